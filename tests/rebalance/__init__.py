"""Plans of evictions: searched, executed by the engine and by the slow controllers, and compared with brute force."""
