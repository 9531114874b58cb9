package dev.muster.scheduler;
