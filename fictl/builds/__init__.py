"""The modules of ops as builds: made, cached, configured."""
