import { useState } from 'preact/hooks'
import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { newIdempotencyKey, post, put } from '../api/request.ts'
import { useRecord } from '../api/use-resource.ts'
import { DetailPage, FactsCard } from '../components/detail-page.tsx'
import { ConfirmButton, ConfirmDialog, DeleteButton, DialogButton } from '../components/form-dialog.tsx'
import { formatInZone } from '../components/format.ts'
import { ItemTable } from '../components/item-table.tsx'
import { JsonView } from '../components/json-view.tsx'
import { Card } from '../components/page.tsx'
import { AgentLink, RunLink, Time, VersionLink } from '../components/values.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { schedulePath } from './list-schedules.ts'
import { ScheduleDialog, scheduleForm } from './schedule-dialog.tsx'
import { describeCatchUp, FIRING_TEXTS, type Firing, OVERLAP_TEXTS, toEnabledBody } from './schedules.ts'

const INTERVAL_MS = 30_000

export function SchedulePage({ agent, name }: { agent: string; name: string }) {
  const path = schedulePath(agent, name)
  const schedule = useRecord<ScheduleRecord>(path, { everyMs: () => INTERVAL_MS })
  const mayManage = useScope('manage')
  return (
    <DetailPage
      of={schedule}
      label="Loading the schedule…"
      title={name}
      parent={<a href="#/schedules">Schedules</a>}
      scope="read"
      detail={(data) => <ScheduleState schedule={data} />}
      actions={(data) => mayManage && <Actions schedule={data} agent={agent} onChange={schedule.setData} />}
    >
      {(data) => (
        <>
          <ScheduleFacts schedule={data} />
          <div class="grid">
            <NextRuns schedule={data} />
            <Firings schedule={data} />
          </div>
          <Card title="Input">
            <JsonView value={data.input} label="the input" />
          </Card>
        </>
      )}
    </DetailPage>
  )
}

const ScheduleState = ({ schedule: { enabled, declared } }: { schedule: ScheduleRecord }) => (
  <>
    {enabled ? (
      <span class="badge badge-success">Enabled</span>
    ) : (
      <span class="badge badge-warning">Paused</span>
    )}
    {declared && <span class="badge">Declared by the agent</span>}
  </>
)

const ScheduleFacts = ({ schedule }: { schedule: ScheduleRecord }) => (
  <FactsCard
    facts={{
      Agent: <AgentLink agentId={schedule.documentId} />,
      Version:
        schedule.version === null ? (
          'Current one at the time'
        ) : (
          <VersionLink agent={schedule.documentId} versionId={schedule.version} />
        ),
      Times: <VisibleText text={schedule.cron} class="mono" />,
      'Time zone': schedule.timezone,
      Tenant: schedule.tenantId,
      'If the last run is still in progress': OVERLAP_TEXTS[schedule.overlap],
      'After an outage': describeCatchUp(schedule.catchUpSeconds),
      Options: Object.keys(schedule.options).length > 0 && (
        <VisibleText text={JSON.stringify(schedule.options)} class="mono" />
      ),
      Set: <Time value={schedule.updatedAt} />,
    }}
  />
)

const NextRuns = ({ schedule: { nextRuns, timezone, enabled } }: { schedule: ScheduleRecord }) => (
  <Card title="Next runs">
    {nextRuns.length === 0 ? (
      <p>{enabled ? 'Its times are over: it never runs again.' : 'It is paused: no run is due.'}</p>
    ) : (
      <ItemTable
        caption="Next runs, the first one first"
        items={nextRuns}
        keyOf={String}
        columns={{
          [timezone]: (time) => formatInZone(time, timezone),
          'In your time': (time) => <Time value={time} />,
        }}
      />
    )}
  </Card>
)

const Firings = ({ schedule: { firings } }: { schedule: ScheduleRecord }) => (
  <Card title="Last times">
    {firings.length === 0 ? (
      <p>It was not due yet.</p>
    ) : (
      <ItemTable
        caption="What became of the last times, newest first"
        items={firings}
        keyOf={({ scheduledFor }) => scheduledFor}
        columns={{
          Due: ({ scheduledFor }) => <Time value={scheduledFor} />,
          'What became of it': { text: (firing) => <FiringResult firing={firing} /> },
          Run: ({ executionId }) => executionId !== null && <RunLink executionId={executionId} />,
        }}
      />
    )}
  </Card>
)

export const FiringResult = ({ firing: { status, code } }: { firing: Firing }) => (
  <span class={status === 'FAILED' ? 'field-error' : undefined}>
    {FIRING_TEXTS[status]}
    {code && say`: ${code}`}
  </span>
)

type ActionsProps = {
  schedule: ScheduleRecord
  agent: string
  onChange: (schedule: ScheduleRecord) => void
}

function Actions({ schedule, agent, onChange }: ActionsProps) {
  const { name, enabled, declared } = schedule
  const path = schedulePath(agent, name)
  return (
    <>
      <DialogButton label="Run now…">{(close) => <RunDialog path={path} onClose={close} />}</DialogButton>
      <ConfirmButton
        label={enabled ? 'Pause…' : 'Enable…'}
        asks={{
          title: enabled ? 'Pause this schedule?' : 'Enable this schedule?',
          yes: enabled ? 'Pause' : 'Enable',
          no: 'Leave it',
        }}
        action={async () =>
          onChange(await put<ScheduleRecord>(path, { body: toEnabledBody(schedule, !enabled) }))
        }
        done={enabled ? 'The schedule is paused.' : 'The schedule is enabled.'}
        text={
          enabled
            ? 'It starts no runs until you enable it again. What is in progress goes on. A new version of the agent does not end the pause.'
            : 'It starts runs again, from its next time on. Times during the pause are not made up for. You can pause it again.'
        }
      />
      <DialogButton label="Edit…" form={scheduleForm(schedule, agent)}>
        {(close) => <ScheduleDialog {...{ agent, schedule }} onSave={onChange} onClose={close} />}
      </DialogButton>
      <DeleteButton
        noun="schedule"
        path={path}
        onDone={() => navigate('#/schedules')}
        text={`It starts no more runs; those that it started stay. This cannot be undone: you would have to create it again.${declared ? ' The agent declares it: its next version that becomes current creates it again.' : ''}`}
      />
    </>
  )
}

function RunDialog({ path, onClose }: { path: string; onClose: () => void }) {
  const [key] = useState(newIdempotencyKey)
  async function run() {
    const headers = { 'Idempotency-Key': key }
    const { id } = await post<ExecutionRecord>(`${path}/run`, { headers })
    navigate(toHref(toPath('runs', id)))
  }
  return (
    <ConfirmDialog
      asks={{ title: 'Run it now?', yes: 'Run now', no: 'Not now' }}
      action={run}
      done="The run has started."
      onClose={onClose}
      text="A run starts at once with the input of the schedule, and costs as any run. Its times stay as they are. You can cancel the run on its page."
    />
  )
}
