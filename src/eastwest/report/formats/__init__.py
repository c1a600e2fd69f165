"""One file a format: HTML (one self-contained page), Markdown, and the terminal summary."""
