"""What a suggestion can do: to the manifest, to nodes, to pods, to claims."""
