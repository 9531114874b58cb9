package dev.muster.rest.operation;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.function.Consumer;

/**
 * Rows of jobs from accounting, one page of bounded size at a time, so that a long answer is never in memory at once.
 */
public final class EndedPages {
    static final int ROWS = 1000;
    /** Rows of a page with few fields: for each page, accounting looks through all rows of the query. */
    static final int ROWS_OF_SUMS = 20_000;
    /** Rows of a page with scripts or environments. */
    static final int ROWS_OF_TEXT = 50;

    private static final String SEPARATE = "accounting_storage/slurmdbd";

    private final Host host;
    private final Json.Obj query;
    private final Json.Obj first;

    /** Asks for the first page at once, so that a refusal becomes the answer's error. */
    public EndedPages(Host host, Json.Obj query) throws SlurmException {
        this.host = host;
        this.query = query.put("limit", (long) rowsOfAPage(query));
        this.first = ask();
    }

    private static int rowsOfAPage(Json.Obj query) {
        if (query.has("fields")) {
            return ROWS_OF_SUMS;
        }
        return query.text("text").isEmpty() ? ROWS : ROWS_OF_TEXT;
    }

    /** Fields of the answer beside the rows. */
    public Json.Obj head() {
        return first;
    }

    /**
     * Asks as sacct does: slurmctld for its own cluster, of which it has the newest rows; slurmdbd for others, and
     * while slurmctld is away.
     */
    private Json.Obj ask() throws SlurmException {
        boolean separate = host.accountingType().equals(SEPARATE);
        if (!separate || query.list("clusters").isEmpty()) {
            try {
                return host.controller().call("QueryAccounting", query);
            } catch (SlurmException e) {
                if (!separate || e.errno() != SlurmErrno.CTLD_CONNECT.number()) {
                    throw e;
                }
                query.put("clusters", RestCall.objects(host.clusters()));
            }
        }
        return host.accounting().call("QueryAccounting", query);
    }

    /** A reply after the other, once. */
    public void each(Consumer<Json.Obj> reply) throws SlurmException {
        Json.Obj page = first;
        reply.accept(page);
        while (page.number("next") > 0) {
            query.put("fromJob", page.number("next"));
            page = ask();
            reply.accept(page);
        }
    }
}
