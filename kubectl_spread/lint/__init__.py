"""What is wrong with a manifest, as far as the manifest alone shows it."""
