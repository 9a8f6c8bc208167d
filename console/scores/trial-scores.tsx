import type { TrialRecord } from '../../lib/contract/records/trial.ts'
import type { TrialItemRecord } from '../../lib/contract/records/trial-item.ts'
import { requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { formatCount, formatScore } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card, ErrorBox } from '../components/page.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'

type Sums = NonNullable<NonNullable<TrialRecord['sums']>['scores']>[number]

/** Each item is a request at most: a trial has 1,000 runs. */
const PAGE_SIZE = 100

/** What scorers say about both sides of a trial that has ended: means, and the difference of each run. */
export function TrialScores({ trialId, scores }: { trialId: string; scores: Sums[] }) {
  const { data, error, reload } = useResource(trialId, async (signal) => {
    const path = `/v1/trials/${trialId}/items`
    return (await requestPages<TrialItemRecord>(path, { query: { limit: PAGE_SIZE }, signal })).items
  })
  return (
    <Card title="Scores" class="stack">
      {error && <ErrorBox error={error} onRetry={reload} />}
      <ItemTable
        caption="Scores of the originals and of the trial"
        items={scores}
        keyOf={({ agent }) => agent}
        columns={{
          Scorer: { header: ({ agent }) => <VisibleText text={agent} /> },
          Runs: { numeric: ({ runs }) => formatCount(runs) },
          'Original mean': { numeric: ({ original }) => formatMean(original) },
          'Trial mean': { numeric: ({ trial }) => formatMean(trial) },
          Difference: { numeric: ({ difference }) => formatMean(difference) },
          Better: { numeric: ({ wins }) => formatCount(wins) },
          Equal: { numeric: ({ ties }) => formatCount(ties) },
          Worse: { numeric: ({ losses }) => formatCount(losses) },
          'Without scores': { numeric: ({ unscored }) => formatCount(unscored) },
        }}
      />
      {scores.map((sums) => (
        <Differences key={sums.agent} sums={sums} items={data ?? []} />
      ))}
      <p class="muted">
        The bar is the 95 % interval of the mean difference. If zero is in it, the trial cannot tell which
        side is better.
      </p>
    </Card>
  )
}

const formatMean = (mean: Sums['difference']): string =>
  mean === null
    ? 'unknown'
    : `${formatScore(mean.mean)} (${formatScore(mean.low)} to ${formatScore(mean.high)})`

const [WIDTH, HEIGHT, CENTER] = [400, 60, 200]

/** The differences of the runs as dots around zero, in layers, so that equal ones do not hide each other. */
function Differences({ sums: { agent, difference }, items }: { sums: Sums; items: TrialItemRecord[] }) {
  const differences = items.flatMap(({ scores = [] }) =>
    scores.flatMap((each) =>
      each.agent === agent && each.original !== null && each.trial !== null ? each.trial - each.original : [],
    ),
  )
  if (difference === null) return null
  const max = Math.max(...differences.map(Math.abs), Math.abs(difference.low), Math.abs(difference.high), 0.1)
  const toX = (value: number) => CENTER + (value / max) * (CENTER - 8)
  return (
    <figure class="chart" aria-label={`Differences of ${agent} by run`}>
      <svg class="score-dots" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <line x1={CENTER} x2={CENTER} y1={0} y2={HEIGHT} stroke="var(--muted)" />
        {differences.map((value, index) => (
          <circle
            key={index}
            cx={toX(value)}
            cy={6 + ((index * 7) % (HEIGHT - 24))}
            r={2}
            fill={`var(--series-${value < 0 ? 3 : 1})`}
            fill-opacity={0.6}
          />
        ))}
        <line
          class="score-interval"
          x1={toX(difference.low)}
          x2={toX(difference.high)}
          y1={HEIGHT - 8}
          y2={HEIGHT - 8}
          stroke="var(--text)"
          stroke-width={3}
        />
        <circle cx={toX(difference.mean)} cy={HEIGHT - 8} r={4} fill="var(--text)" />
      </svg>
      <div class="chart-axis" aria-hidden="true">
        <span>worse by {formatScore(max)}</span>
        <Text as="span" text={agent} />
        <span>better by {formatScore(max)}</span>
      </div>
    </figure>
  )
}
