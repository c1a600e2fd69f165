"""Why not, and on which hop: symptoms, localisation, ranked causes with evidence for and against."""
