package dev.muster.cli.sacct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.cli.shape.Names;
import dev.muster.cli.shape.SacctJson;
import dev.muster.json.Json;
import dev.muster.model.accounting.PackedAnswer;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * Writes {@code sacct --json} and {@code --yaml}. A job is a tree only while it is written, so that any number of jobs
 * needs the memory of one part.
 */
final class SacctDocument implements Iterable<Object> {
    /** Rows of jobs in each part of the answer. */
    private static final long AT_ONCE = 20_000;

    /** Asks for the next part. */
    interface Question {
        byte[] ask() throws SlurmException;
    }

    /** A later part did not come. */
    private static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient SlurmException why;

        Broken(SlurmException why) {
            super(why.getMessage(), why);
            this.why = why;
        }
    }

    private final Names names;
    private final Json.Obj query;
    private final SacctFilter filter;
    private final Question question;
    private final byte[] first;

    private SacctDocument(Names names, Json.Obj query, SacctFilter filter, Question question, byte[] first) {
        this.names = names;
        this.query = query;
        this.filter = filter;
        this.question = question;
        this.first = first;
    }

    /** @param form json or yaml; parser: what was written behind it; filter: what they are chosen by */
    static int print(
            CommandContext context, String form, String parser, Json.Obj query, SacctFilter filter, Question question)
            throws UsageException {
        query.put("packed", Boolean.TRUE).put("limit", AT_ONCE);
        try {
            byte[] first = question.ask();
            Names names = JsonOutput.names(context);
            if (!PackedAnswer.isPacked(first)) {
                return JsonOutput.print(
                        context,
                        form,
                        parser,
                        SacctJson.answer(names, Json.object(first), query.flag("allocationsOnly")));
            }
            return JsonOutput.print(
                    context,
                    form,
                    parser,
                    new Json.Obj().put("jobs", new SacctDocument(names, query, filter, question, first)));
        } catch (SlurmException e) {
            return Sacct.failed(context, e);
        } catch (Broken e) {
            return Sacct.failed(context, e.why);
        }
    }

    @Override
    public Iterator<Object> iterator() {
        return new Jobs();
    }

    private final class Jobs implements Iterator<Object> {
        private PackedAnswer.Reader part = new PackedAnswer.Reader(first);
        private boolean known;
        private boolean ahead;

        @Override
        public boolean hasNext() {
            while (!known) {
                ahead = part.advance();
                known = !ahead || filter.test(part.job());
                if (!ahead && part.next() > 0) {
                    query.put("fromJob", (long) part.next());
                    try {
                        part = new PackedAnswer.Reader(question.ask());
                    } catch (SlurmException e) {
                        throw new Broken(e);
                    }
                    known = false;
                }
            }
            return ahead;
        }

        @Override
        public Object next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            known = false;
            return SacctJson.job(
                    names,
                    part.job(),
                    query.flag("allocationsOnly") ? List.of() : part.steps(),
                    part.now(),
                    part.jobCluster().isEmpty() ? part.cluster() : part.jobCluster());
        }
    }
}
