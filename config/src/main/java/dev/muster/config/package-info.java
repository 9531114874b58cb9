package dev.muster.config;
