import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { TrialItemRecord } from '../../lib/contract/records/trial-item.ts'
import { findReasons, GRAVE, MAX_ITEMS } from '../../lib/contract/trial-outcome.ts'
import { toReport } from '../../lib/contract/trial-report.ts'
import { requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { InfoDialog } from '../components/dialog.tsx'
import type { Release } from '../versions/release.tsx'

type Props = { trial: TrialRecord; release: Release; onClose: () => void }

/** What came out as Markdown, like `--report` of the command line. */
export function ReportDialog({ trial, release, onClose }: Props) {
  const report = useResource('report', async (signal) => {
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
    return toReport(outcome, `npx agent-execution trials results ${trial.id}`)
  })
  return (
    <InfoDialog
      title="Report"
      onClose={onClose}
      actions={report.data !== null && <CopyButton text={report.data} label="Copy Markdown" />}
    >
      <p>
        Markdown for a pull request, the same that <code>agents trial --report</code> writes.
      </p>
      <Loaded of={report} label="Loading the differences…">
        {(text) => (
          <textarea
            class="trial-report"
            readOnly
            rows={16}
            spellcheck={false}
            aria-label="Report"
            value={text}
          />
        )}
      </Loaded>
    </InfoDialog>
  )
}
