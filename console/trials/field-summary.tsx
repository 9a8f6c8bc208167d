import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { TrialItemRecord } from '../../lib/contract/records/trial-item.ts'
import { toText } from '../../lib/contract/trial-outcome.ts'
import { requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { WordDiff } from '../compare/word-diff.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card } from '../components/page.tsx'
import { PartsBar } from '../components/small-charts.tsx'
import { VisibleText } from '../components/visible-text.tsx'

type Difference = TrialItemRecord['differences'][number]

/** A field of outputs, with the number of runs in which it differs, and the first of its differences. */
type ChangedField = { path: string; runs: number; example: Difference }

/** Which fields differ in how many runs, the most frequent first. Items of lists are one field: `/items/…/sku`. */
export function summarizeFields(items: TrialItemRecord[]): ChangedField[] {
  const fields = new Map<string, ChangedField>()
  for (const { differences } of items) {
    const inRun = new Map(differences.map((each) => [each.path.replace(/\/\d+(?=\/|$)/g, '/…'), each]))
    for (const [path, example] of inRun) {
      const known = fields.get(path)
      fields.set(path, known ? { ...known, runs: known.runs + 1 } : { path, runs: 1, example })
    }
  }
  return [...fields.values()].sort((a, b) => b.runs - a.runs)
}

const CHANGED = ['CHANGED', 'REGRESSED', 'CORRECTED'] as const
const PAGE = 100
const MAX_PAGES = 5

/** Which fields of the output differ, and in how many runs. Only a trial that has ended has it. */
export function FieldSummary({ trial: { id, verdicts } }: { trial: TrialRecord }) {
  const found = useResource('fields', async (signal) => {
    const reads = CHANGED.filter((verdict) => verdicts[verdict] > 0).map((verdict) =>
      requestPages<TrialItemRecord>(`/v1/trials/${id}/items`, {
        ...{ query: { verdict, limit: PAGE }, signal, maxPages: MAX_PAGES },
      }),
    )
    const items = (await Promise.all(reads)).flatMap((list) => list.items)
    return { runs: items.length, fields: summarizeFields(items) }
  })
  if (found.data?.fields.length === 0) return null
  return (
    <Card title="Changed fields" class="stack">
      <Loaded of={found} label="Loading the differences…">
        {({ runs, fields }) => (
          <>
            <p class="muted">Of {formatCountOf(runs, 'run')} with another output.</p>
            <ItemTable
              caption="Fields of the output that differ, the most frequent first"
              items={fields}
              keyOf={({ path }) => path}
              columns={{
                Field: ({ path }) => <FieldName path={path} />,
                Runs: { numeric: (field) => formatCount(field.runs) },
                Share: (field) => (
                  <PartsBar parts={[{ size: field.runs, color: 'var(--warning)' }]} total={runs} />
                ),
                'For example': { text: ({ example }) => <Change {...example} /> },
              }}
            />
          </>
        )}
      </Loaded>
    </Card>
  )
}

/** @param path a JSON Pointer into the output */
export const FieldName = ({ path }: { path: string }) =>
  path === '' ? <>The whole output</> : <VisibleText text={path} class="mono" />

export const Change = (each: Difference) => (
  <WordDiff before={toText(each, 'original')} after={toText(each, 'trial')} />
)
