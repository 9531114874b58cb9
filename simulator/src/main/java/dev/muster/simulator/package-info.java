package dev.muster.simulator;
