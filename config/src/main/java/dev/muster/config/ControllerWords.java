package dev.muster.config;

/** Words of SlurmctldParameters that slurmctld knows and that change nothing in it. */
final class ControllerWords {
    /** The key, the word, and why. */
    static final String[][] UNKEPT = {
        {"SlurmctldParameters", "allow_user_triggers", "triggers are set by administrators"},
        {"SlurmctldParameters", "disable_triggers", "triggers that nobody sets cost nothing"},
        {"SlurmctldParameters", "max_dbd_msg_action", "what slurmdbd has not taken stays in the journal"},
        {"SlurmctldParameters", "max_powered_nodes", "nodes with power are not limited"},
        {"SlurmctldParameters", "node_reg_mem_percent", "it is not part of this version"},
        {"SlurmctldParameters", "power_save_interval", "nodes are looked at each second"},
        {"SlurmctldParameters", "power_save_min_interval", "nodes are looked at each second"},
        {"SlurmctldParameters", "reboot_from_controller", "RebootProgram is run by the node; a PowerAction may have slurmctld run one"},
        {"SlurmctldParameters", "user_resv_delete", "reservations are deleted by administrators"}};

    private ControllerWords() {}
}
