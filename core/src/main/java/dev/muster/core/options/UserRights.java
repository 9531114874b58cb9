package dev.muster.core.options;

/**
 * Rights of users that only operators have by default.
 *
 * @param top enable_user_top: scontrol top of their own jobs; no by default
 * @param deleteReservations SlurmctldParameters=user_resv_delete: of which they are users; no by default
 * @param triggers SlurmctldParameters=allow_user_triggers, where slurmctld is root's; no by default
 * @param anyTriggers no SlurmctldParameters=disable_triggers; yes by default
 * @param crontabs ScronParameters=enable; no by default
 * @param explicitCronCancel ScronParameters=explicit_scancel: a job of scrontab is cancelled only with {@code scancel
 *     --cron}; no by default
 */
public record UserRights(
        boolean top,
        boolean deleteReservations,
        boolean triggers,
        boolean anyTriggers,
        boolean crontabs,
        boolean explicitCronCancel) {
    /** {@code true} with SlurmctldParameters=user_resv_delete: users of a reservation may delete it. */
    public static final String USER_RESV_DELETE = "ctld:user_resv_delete";
    /** {@code true} with SlurmctldParameters=allow_user_triggers. */
    public static final String USER_TRIGGERS = "ctld:allow_user_triggers";
    /** {@code true} with SlurmctldParameters=disable_triggers. */
    public static final String NO_TRIGGERS = "ctld:disable_triggers";
    /** ScronParameters in lower case, with commas. */
    public static final String SCRON = "scron";

    static UserRights of(OptionParser text) {
        String cron = text.text(SCRON);
        return new UserRights(
                text.has("enable_user_top"),
                text.has(USER_RESV_DELETE),
                text.has(USER_TRIGGERS),
                !text.has(NO_TRIGGERS),
                cron.contains("enable"),
                cron.contains("explicit_scancel"));
    }
}
