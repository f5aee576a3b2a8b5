"""One engine per device, and the work shared among them."""
