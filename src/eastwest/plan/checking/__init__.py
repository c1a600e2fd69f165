"""A published or hand-made design, bill of materials or optics list as somebody wrote it: read, added up, judged."""
