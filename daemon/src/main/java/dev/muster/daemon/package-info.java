package dev.muster.daemon;
