import './schedules.css'
import { useState } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { requestJson, requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { AgentTenantFilters } from '../components/agent-tenant-filters.tsx'
import { announce } from '../components/copy-button.tsx'
import { Table } from '../components/data.tsx'
import { formatCount, formatCountOf, formatInZone } from '../components/format.ts'
import { ErrorBox, NeedsScope, Page, Spinner } from '../components/page.tsx'
import { useReopen } from '../components/typed-form.tsx'
import { AgentLink, RunLink, Time } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { ASKED, listSchedulesOf, PARALLEL } from './list-schedules.ts'
import { ScheduleDialog, scheduleForm } from './schedule-dialog.tsx'
import { SchedulePage } from './schedule-page.tsx'
import { FIRING_TEXTS, sortSchedules } from './schedules.ts'

export { SchedulePage }

/** The schedules of all agents, or of one: the next to fire comes first. The filter is in the URL. */
export function SchedulesPage({ query }: { query: URLSearchParams }) {
  const agent = query.get('agent') ?? ''
  const mayManage = useScope('manage')
  const [isCreating, setIsCreating] = useState(false)
  useReopen(scheduleForm(null, agent), mayManage, () => setIsCreating(true))
  return (
    <Page
      title="Schedules"
      actions={
        mayManage && (
          <button type="button" class="primary" onClick={() => setIsCreating(true)}>
            Create a schedule…
          </button>
        )
      }
    >
      <NeedsScope scope="read">
        <AgentTenantFilters
          agent={agent}
          onChange={(change) => navigate(toHref('/schedules', { agent, ...change }), { replace: true })}
        />
        <Schedules key={agent} agent={agent} />
      </NeedsScope>
      {isCreating && (
        <ScheduleDialog
          agent={agent}
          schedule={null}
          onSave={(saved) => {
            announce('The schedule is saved.')
            navigate(toHref(toPath('agents', saved.documentId, 'schedules', saved.name)))
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
    </Page>
  )
}

type Loaded = { schedules: ScheduleRecord[]; asked: number; agents: number }

function Schedules({ agent }: { agent: string }) {
  const [max, setMax] = useState(ASKED)
  const [progress, setProgress] = useState(0)
  const { data, error, isLoading, reload } = useResource(`${max}`, async (signal): Promise<Loaded> => {
    setProgress(0)
    const agents = await findAgents(agent, signal)
    const some = agents.slice(0, max)
    const schedules = await listSchedulesOf(some, { signal, onProgress: setProgress })
    return { schedules: sortSchedules(schedules), asked: some.length, agents: agents.length }
  })
  return (
    <div class="stack">
      <p class="muted list-state" role="status">
        {isLoading && progress > 0 && `${formatCountOf(progress, 'agent')} asked…`}
        {!isLoading && data && describe(data, agent)}
      </p>
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading schedules…" />}
      {data && data.schedules.length > 0 && (
        <Table
          caption="Schedules, the next to fire first"
          columns={['Schedule', 'Agent', 'Times', 'Next run', 'In your time', 'Last time']}
        >
          {data.schedules.map((schedule) => (
            <Row key={`${schedule.documentId} ${schedule.name}`} schedule={schedule} />
          ))}
        </Table>
      )}
      {data && data.schedules.length === 0 && (
        <p class="empty">
          {agent === ''
            ? 'No agent has a schedule yet. A schedule starts runs of an agent at the times of a cron expression.'
            : 'This agent has no schedule.'}
        </p>
      )}
      {data && data.asked < data.agents && (
        <p>
          <button type="button" disabled={isLoading} onClick={() => setMax(max + ASKED)}>
            Ask {formatCount(Math.min(ASKED, data.agents - data.asked))} more of{' '}
            {formatCountOf(data.agents, 'agent')}
          </button>
        </p>
      )}
    </div>
  )
}

/** The agents whose schedules are listed. @throws ApiError */
async function findAgents(agent: string, signal: AbortSignal): Promise<Pick<AgentRecord, 'id'>[]> {
  if (agent !== '')
    return [await requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(agent)}`, { signal })]
  return (await requestPages<AgentRecord>('/v1/agents', { query: { limit: 100 }, signal })).items
}

const describe = ({ schedules, asked, agents }: Loaded, agent: string) =>
  agent !== ''
    ? formatCountOf(schedules.length, 'schedule')
    : `${formatCountOf(schedules.length, 'schedule')} of ${
        asked < agents ? `the ${formatCount(asked)} newest of ` : ''
      }${formatCountOf(agents, 'agent')}. The service lists them by agent: ${PARALLEL} are asked at a time.`

function Row({ schedule }: { schedule: ScheduleRecord }) {
  const { name, documentId, cron, timezone, enabled, nextRunAt, firings } = schedule
  const [last] = firings
  return (
    <tr class="schedule-row">
      <th scope="row">
        <a href={toHref(toPath('agents', documentId, 'schedules', name))}>
          <VisibleText text={name} />
        </a>{' '}
        {!enabled && <span class="badge badge-warning">Paused</span>}
      </th>
      <td>
        <AgentLink agentId={documentId} />
      </td>
      <td>
        <VisibleText text={cron} class="mono" />
        <span class="muted schedule-zone">
          <VisibleText text={timezone} />
        </span>
      </td>
      <td>{nextRunAt === null ? '–' : <VisibleText text={formatInZone(nextRunAt, timezone)} />}</td>
      <td>
        <Time value={nextRunAt} />
      </td>
      <td>{last ? <LastFiring firing={last} /> : '–'}</td>
    </tr>
  )
}

/** What became of a time, with the run that it started. */
function LastFiring({ firing }: { firing: ScheduleRecord['firings'][number] }) {
  const { status, executionId, code } = firing
  if (executionId !== null) return <RunLink executionId={executionId} />
  return (
    <span class={status === 'FAILED' ? 'field-error' : 'muted'}>
      {FIRING_TEXTS[status]}
      {code !== null && (
        <>
          : <VisibleText text={code} />
        </>
      )}
    </span>
  )
}
