package dev.muster.transport;
