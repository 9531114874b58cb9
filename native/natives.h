/*
 * What Java code asks of the process, and what the launcher asks of the Java machine's side. Called by: launcher.c and
 * Java. Calls: warm.c, launcher.c.
 */
#ifndef MUSTER_NATIVES_H
#define MUSTER_NATIVES_H

#include <jni.h>

struct launcher;

void natives_register(struct launcher *launcher, JNIEnv *env, const char *class_name);
/* A daemon serves, or cannot: tells the waiting parent. */
void natives_ready(struct launcher *launcher, int rc);

#endif
