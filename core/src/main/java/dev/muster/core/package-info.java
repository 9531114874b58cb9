package dev.muster.core;
