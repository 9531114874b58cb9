/*
 * Options of the sanitizers, linked into the programs by `make SAN=1`: stepd gives its helper and its tasks an
 * environment of its own, and has closed its standard error when it fails. Reports go to files that `make test` looks
 * for.
 */
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
const char *__ubsan_default_options(void);

/* The Java machine handles SIGSEGV itself, and frees nothing when it ends. */
const char *__asan_default_options(void)
{
    return "log_path=" SANITIZER_REPORTS
           "/report:log_exe_name=1:exitcode=99:abort_on_error=0:detect_leaks=" SANITIZER_LEAKS
           ":handle_segv=" SANITIZER_LEAKS;
}

const char *__ubsan_default_options(void)
{
    return "log_path=" SANITIZER_REPORTS "/report:log_exe_name=1:exitcode=99:print_stacktrace=1";
}

/* Not ours to free. */
const char *__lsan_default_suppressions(void) { return "leak:libpmix\nleak:libevent\nleak:libhwloc\nleak:libpam\n"; }
