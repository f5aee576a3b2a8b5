"""An engine per device in worker processes, and the distribution of work among them."""
