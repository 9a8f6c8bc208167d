import type { TrialItemRecord, TrialRecord } from '../../lib/contract/records/trial-record.ts'
import { findReasons, GRAVE, MAX_ITEMS } from '../../lib/contract/trial-outcome.ts'
import { toReport } from '../../lib/contract/trial-report.ts'
import { requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ErrorBox, Spinner } from '../components/page.tsx'
import type { Release } from '../versions/release.tsx'

type Props = { trial: TrialRecord; release: Release; onClose: () => void }

/** What came out as Markdown, like `--report` of the command line. */
export function ReportDialog({ trial, release, onClose }: Props) {
  const { data, error, reload } = useResource('report', async (signal) => {
    const pages = await Promise.all(
      GRAVE.filter((verdict) => trial.verdicts[verdict] > 0).map((verdict) =>
        requestPage<TrialItemRecord>(`/v1/trials/${trial.id}/items`, {
          query: { verdict, limit: MAX_ITEMS },
          signal,
        }),
      ),
    )
    const items = pages.flatMap((page) => page.items)
    const { gate, agent } = release
    const outcome = { trial, slug: agent.slug, gate, unmet: findReasons(trial, gate), items }
    return toReport(outcome, `npm run agents -- trials results ${trial.id}`)
  })
  return (
    <Dialog title="Report" onClose={onClose}>
      <div class="form">
        <p>
          Markdown for a pull request, the same that <code>agents trial --report</code> writes.
        </p>
        {error && <ErrorBox error={error} onRetry={reload} />}
        {data === null && !error && <Spinner label="Loading the differences…" />}
        {data !== null && (
          <textarea
            class="trial-report"
            readOnly
            rows={16}
            spellcheck={false}
            aria-label="Report"
            value={data}
          />
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
          {data !== null && <CopyButton text={data} label="Copy Markdown" />}
        </div>
      </div>
    </Dialog>
  )
}
