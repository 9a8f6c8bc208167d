import type { ScoreRowRecord } from '../../lib/contract/records/score.ts'
import { requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { BarChart } from '../components/bar-chart.tsx'
import { Card } from '../components/data.tsx'
import { formatCountOf, formatScore } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'

/** What scorers say about the production runs of a version, by day. */
export function VersionScores({ agentId, versionId }: { agentId: string; versionId: string }) {
  const { data, error, reload } = useResource(versionId, async (signal) => {
    const query = { agent: agentId, version: versionId }
    return (await requestPages<ScoreRowRecord>('/v1/scores', { query, signal })).items
  })
  if (error) return <ErrorBox error={error} onRetry={reload} />
  if (!data || data.length === 0) return null
  return (
    <Card title="Scores of the last 30 days" class="stack">
      {[...Map.groupBy(data, ({ scorer }) => scorer)].map(([scorer, rows]) => (
        <div key={scorer}>
          <h3>
            <VisibleText text={scorer} />
          </h3>
          <BarChart
            label={`Mean score of ${scorer} by day`}
            axis="Day"
            series={[{ name: scorer, color: 1 }]}
            max={1}
            bars={rows.map(({ start, mean, runs, low, failed }) => ({
              label: `${start.slice(0, 10)}: ${formatCountOf(runs, 'run')}, ${low} low, ${failed} without a score`,
              values: [mean ?? 0],
            }))}
            ticks={[rows[0]?.start.slice(0, 10), rows.at(-1)?.start.slice(0, 10)]}
            format={formatScore}
          />
        </div>
      ))}
    </Card>
  )
}
