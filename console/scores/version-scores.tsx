import type { ScoreRowRecord } from '../../lib/contract/records/score.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { BarChart } from '../components/bar-chart.tsx'
import { formatCountOf, formatScore } from '../components/format.ts'
import { Card, ErrorBox } from '../components/page.tsx'
import { Text } from '../components/visible-text.tsx'

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
