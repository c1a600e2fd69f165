"""Constants fitted on a user's own measurements, shrunk to the shipped ones, and the file that keeps them."""
