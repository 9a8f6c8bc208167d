import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { AgreementRecord, ScoreRowRecord } from '../../lib/contract/records/score.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { requestJson, requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { BarChart } from '../components/bar-chart.tsx'
import { formatCount, formatCountOf, formatScore } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card, ErrorBox } from '../components/page.tsx'
import { RunLink } from '../components/values.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'

/** `version`: another one reads it again. */
type AgreementProps = { agent: string; tenantId?: string; version?: number }

export function Agreement({ agent, tenantId = '', version = 0 }: AgreementProps) {
  const { data, error, reload } = useResource(`${agent} ${tenantId} ${version}`, (signal) =>
    requestJson<AgreementRecord[]>('/v1/scores/agreement', { query: { agent, tenantId }, signal }),
  )
  if (error) return <ErrorBox error={error} onRetry={reload} />
  if (!data || data.length === 0) return null
  return (
    <Card title="Agreement with people" class="stack">
      <ItemTable
        caption="Agreement with people"
        items={data}
        keyOf={({ scorer }) => scorer}
        columns={{
          Scorer: { header: ({ scorer }) => <VisibleText text={scorer} /> },
          'Reviewed runs': { numeric: ({ runs }) => formatCount(runs) },
          'High, liked': { numeric: ({ highLiked }) => formatCount(highLiked) },
          'High, disliked': { numeric: ({ highDisliked }) => formatCount(highDisliked) },
          'Low, liked': { numeric: ({ lowLiked }) => formatCount(lowLiked) },
          'Low, disliked': { numeric: ({ lowDisliked }) => formatCount(lowDisliked) },
          Kappa: { numeric: ({ kappa }) => (kappa === null ? 'unknown' : formatScore(kappa)) },
        }}
      />
      <p class="muted">
        Cohen’s kappa is 1 if a scorer and people always agree, and 0 if they agree as often as by chance.
        Review runs with high scores, too.
      </p>
    </Card>
  )
}

export const RunScores = ({ scores }: Pick<ExecutionRecord, 'scores'>) =>
  scores && (
    <Card title="Scores">
      <ItemTable
        caption="Scores"
        items={scores}
        keyOf={({ agent }) => agent}
        columns={{
          Scorer: { header: ({ agent }) => <VisibleText text={agent} /> },
          Score: { numeric: ({ score }) => (score === null ? 'none' : formatScore(score)) },
          Reason: { text: ({ reason, error }) => error?.message ?? reason },
          'Its run': ({ executionId }) => executionId && <RunLink executionId={executionId} />,
        }}
      />
    </Card>
  )

const DAYS = 30

export function VersionScores({ agentId, versionId }: { agentId: string; versionId: string }) {
  const { data, error, reload } = useResource(versionId, async (signal) => {
    const query = { agent: agentId, version: versionId }
    return (await requestPages<ScoreRowRecord>('/v1/scores', { query, signal })).items
  })
  if (error) return <ErrorBox error={error} onRetry={reload} />
  if (!data || data.length === 0) return null
  return (
    <Card title={`Scores of ${DAYS} days`} class="stack">
      {[...Map.groupBy(data, ({ scorer }) => scorer)].map(([scorer, rows]) => (
        <div key={scorer}>
          <Text as="h3" text={scorer} />
          <BarChart
            label={`Mean score of ${scorer} by day`}
            axis="Day"
            series={[{ name: scorer, color: 1 }]}
            max={1}
            bars={barsOf(rows)}
            format={formatScore}
          />
        </div>
      ))}
    </Card>
  )
}

/** The days before the last one with scores, also those without any. */
function barsOf(rows: ScoreRowRecord[]) {
  const byDay = new Map(rows.map((row) => [row.start.slice(0, 10), row]))
  const last = Date.parse(rows.at(-1)?.start ?? '')
  return Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(last - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    const { runs = 0, mean = null, low = 0, failed = 0 } = byDay.get(day) ?? {}
    const counts = `${formatCountOf(runs, 'run')}, ${low} low, ${failed} without a score`
    return { label: `${day}: ${runs + failed === 0 ? 'no scores' : counts}`, values: [mean ?? 0] }
  })
}
