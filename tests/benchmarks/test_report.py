"""A new result replaces the section of the same title, and leaves the rest of its page alone."""

from benchmarks.report import put_section

PAGE = "# The window\n\nAbout it.\n\n## Gaps\n\nold gaps\n\n### Detail\n\nold\n\n## Start\n\nold start\n"


def test_a_section_is_replaced_in_its_place() -> None:
    page = put_section(PAGE, "Gaps", "# Gaps\n\nnew gaps\n\n## Detail\n\nnew\n")
    assert page == PAGE.replace("old gaps", "new gaps").replace("### Detail\n\nold", "### Detail\n\nnew")


def test_a_new_section_goes_to_the_end() -> None:
    assert put_section(PAGE, "Speed", "# Speed\n\nfast\n") == PAGE + "\n## Speed\n\nfast\n"


def test_a_page_of_one_section_is_replaced() -> None:
    assert put_section("# Speed\n\nslow\n\n## Detail\n", "Speed", "# Speed\n\nfast\n") == "# Speed\n\nfast\n"
    assert put_section("", "Speed", "# Speed\n\nfast\n") == "# Speed\n\nfast\n"
