import type { ComponentChildren } from 'preact'
import { useAgents } from '../api/agents.ts'
import { Card } from '../components/data.tsx'
import { formatCost, formatCount, formatCountOf, shortId } from '../components/format.ts'
import { ErrorBox, Spinner } from '../components/page.tsx'
import type { Period } from '../components/range.ts'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref } from '../state/location.ts'
import { addUpBy, type Totals } from './totals.ts'
import { INCOMPLETE_NOTE, useUsage } from './use-usage.ts'

type Props = { period: Period; tenantId?: string | undefined }

/** Which agents the money is spent on. Each is a link to its runs. */
export function CostByAgent({ period, tenantId }: Props) {
  const agents = useAgents()
  const nameOf = (id: string | null) => {
    const agent = agents?.get(id ?? '')
    const query = { agent: agent?.slug ?? id, tenantId, period }
    return (
      <a href={toHref('/runs', query)}>
        <VisibleText text={agent?.title ?? shortId(id ?? '')} />
      </a>
    )
  }
  return <CostBy groupBy="agent" title="Cost by agent" {...{ period, tenantId, nameOf }} />
}

/** Which tenants the money is spent for. Each is a link to its runs. */
export function CostByTenant({ period }: Props) {
  const nameOf = (tenantId: string | null) =>
    tenantId === null ? (
      'No tenant'
    ) : (
      <a href={toHref('/runs', { tenantId, period })}>
        <VisibleText text={tenantId} />
      </a>
    )
  return (
    <CostBy groupBy="tenant" title="Cost by tenant" {...{ period, nameOf }}>
      <p>
        <a href={toHref('/tenants', { period })}>Tenants and their limits</a>
      </p>
    </CostBy>
  )
}

type CostProps = Props & {
  groupBy: 'agent' | 'tenant'
  title: string
  nameOf: (key: string | null) => ComponentChildren
  children?: ComponentChildren
}

function CostBy({ groupBy, title, period, tenantId, nameOf, children }: CostProps) {
  const { data, error, reload } = useUsage(period, { groupBy, tenantId })
  const groups = addUpBy(
    data?.items ?? [],
    (row) => (groupBy === 'agent' ? row.agentId : row.tenantId) ?? null,
  )
  return (
    <Card title={title}>
      {!data && error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading usage…" />}
      {data && !data.isComplete && <p class="muted">{INCOMPLETE_NOTE}</p>}
      {data && groups.length === 0 && <p class="muted">No run ended in this time.</p>}
      <Ranking
        items={groups.map((group) => ({
          key: JSON.stringify(group.key),
          name: nameOf(group.key),
          detail: describe(group),
          value: group.costUsd,
          text: formatCost(group.costUsd),
        }))}
      />
      {children}
    </Card>
  )
}

const describe = ({ runs, failed }: Totals): string =>
  `${formatCountOf(runs, 'run')}${failed > 0 ? `, ${formatCount(failed)} failed` : ''}`

type RankedItem = {
  key: string
  name: ComponentChildren
  detail?: string
  value: number
  /** The value for people. */
  text: string
}

const SHOWN = 10

/** The highest values, with a bar for each. @param items the highest first */
export function Ranking({ items }: { items: RankedItem[] }) {
  const max = items[0]?.value ?? 0
  const others = items.length - SHOWN
  return (
    <>
      <ul class="ranking">
        {items.slice(0, SHOWN).map(({ key, name, detail, value, text }) => (
          <li key={key}>
            <span class="ranking-name">
              {name}
              {detail && <span class="muted">{detail}</span>}
            </span>
            <span class="ranking-track" aria-hidden="true">
              <span style={{ width: `${max > 0 ? (100 * value) / max : 0}%` }} />
            </span>
            <span class="numeric">{text}</span>
          </li>
        ))}
      </ul>
      {others > 0 && <p class="muted">And {formatCount(others)} more.</p>}
    </>
  )
}
