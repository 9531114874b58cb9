/** Reading and writing of the part of HDF5 that profiles need. */
package dev.muster.model.hdf5;
