"""The packet engine: compiled event kernels over tables of records, one file a mechanism."""
