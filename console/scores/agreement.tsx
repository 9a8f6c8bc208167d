import type { AgreementRecord } from '../../lib/contract/records/score.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { formatCount, formatScore } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { Card, ErrorBox } from '../components/page.tsx'
import { VisibleText } from '../components/visible-text.tsx'

/** `version`: another one reads it again. */
type Props = { agent: string; tenantId?: string; version?: number }

export function Agreement({ agent, tenantId = '', version = 0 }: Props) {
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
