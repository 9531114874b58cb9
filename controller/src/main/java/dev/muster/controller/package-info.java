package dev.muster.controller;
