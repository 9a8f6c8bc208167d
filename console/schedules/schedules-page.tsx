import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { requestPage } from '../api/request.ts'
import { useList } from '../api/use-list.ts'
import { useResource } from '../api/use-resource.ts'
import { AGENT_FILTER } from '../components/filters.ts'
import { DialogButton } from '../components/form-dialog.tsx'
import { formatInZone } from '../components/format.ts'
import { Outcomes } from '../components/small-charts.tsx'
import { AgentLink, RunLink, Time } from '../components/values.tsx'
import { say, TextLink, VisibleText } from '../components/visible-text.tsx'
import { listPage } from '../list-page.tsx'
import type { Run } from '../runs/run-list.ts'
import { navigate, toHref, toPath } from '../state/location.ts'
import { AGENTS_PER_PAGE, loadSchedules } from './list-schedules.ts'
import { ScheduleDialog, scheduleForm } from './schedule-dialog.tsx'
import { FiringResult } from './schedule-page.tsx'
import { outcomeOf, sortSchedules } from './schedules.ts'

export { SchedulePage } from './schedule-page.tsx'

const pathOf = ({ documentId, name }: ScheduleRecord) => toPath('agents', documentId, 'schedules', name)

export const SchedulesPage = listPage({
  title: 'Schedules',
  path: '/schedules',
  scope: 'read',
  note: `The service lists schedules by agent: those of ${AGENTS_PER_PAGE} agents at a time.`,
  filters: AGENT_FILTER,
  useItems({ agent }) {
    const list = useList<Listed>('/v1/agents/*/schedules', {
      query: { agent },
      keyOf: pathOf,
      load: (next, signal) => loadSchedules(agent, next, signal),
    })
    const { data: runs } = useResource(`runs of ${agent}`, (signal) => loadRuns(agent, signal))
    return { ...list, items: list.items.map((schedule) => ({ ...schedule, runs })) }
  },
  find: (schedules: Listed[]) => sortSchedules(schedules),
  noun: 'schedule',
  caption: 'Schedules, the next to fire first',
  columns: {
    Schedule: (schedule) =>
      say`${<TextLink href={toHref(pathOf(schedule))} text={schedule.name} />} ${!schedule.enabled && <span class="badge badge-warning">Paused</span>}`,
    Agent: ({ documentId }) => <AgentLink agentId={documentId} />,
    Times: {
      text: ({ cron, timezone }) => (
        <>
          <VisibleText text={cron} class="mono" />
          <br />
          <VisibleText text={timezone} class="muted" />
        </>
      ),
    },
    'Next run': ({ nextRunAt, timezone }) => nextRunAt && formatInZone(nextRunAt, timezone),
    'In your time': ({ nextRunAt }) => <Time value={nextRunAt} />,
    'Last ten': ({ firings, runs }) => (
      <Outcomes outcomes={firings.map((each) => outcomeOf(each, runs?.get(each.executionId ?? '')))} />
    ),
    'Last time': ({ firings: [last] }) =>
      last?.executionId ? <RunLink executionId={last.executionId} /> : last && <FiringResult firing={last} />,
  },
  empty: () =>
    'No agent has a schedule yet. A schedule starts runs of an agent at the times of a cron expression.',
  noMatch: () => 'This agent has no schedule.',
  Actions: ({ values: { agent } }) => (
    <DialogButton class="primary" label="Create a schedule…" scope="manage" form={scheduleForm(null, agent)}>
      {(close) => (
        <ScheduleDialog
          agent={agent}
          schedule={null}
          onSave={(saved) => navigate(toHref(pathOf(saved)))}
          onClose={close}
        />
      )}
    </DialogButton>
  ),
})

type Listed = ScheduleRecord & { runs?: ReadonlyMap<string, Run> | null }

/** The newest runs of schedules: one request for all of them. @throws ApiError */
async function loadRuns(agent: string, signal: AbortSignal) {
  const path = agent === '' ? '/v1/agent_executions' : `/v1/agents/${encodeURIComponent(agent)}/executions`
  const query = { source: 'SCHEDULE', fields: 'summary', limit: 100 }
  const { items } = await requestPage<Run>(path, { query, signal })
  return new Map(items.map((run) => [run.id, run]))
}
