import '../schema/schema.css'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { SCHEDULE_NAME, SCHEDULE_NAME_RULE } from '../../lib/core/schedule.ts'
import { ApiError, nullIf } from '../api/api-error.ts'
import { put, requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/button.tsx'
import { TextField } from '../components/field.tsx'
import { AgentField } from '../components/filter-bar.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { formatInZone } from '../components/format.ts'
import { printJson } from '../components/json-tree.ts'
import { ErrorBox } from '../components/page.tsx'
import { useTypedForm } from '../components/typed-form.tsx'
import { useNow } from '../components/values.tsx'
import { JsonInput } from '../schema/json-editor.tsx'
import { useCheck } from '../schema/run-check.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { schedulePath } from './list-schedules.ts'
import {
  catchUpChoices,
  localZone,
  OVERLAP_TEXTS,
  previewTimes,
  problemsByField,
  type ScheduleForm,
  toBody,
  toForm,
} from './schedules.ts'

type Props = {
  /** ID or slug; empty: to be chosen. */
  agent: string
  schedule: ScheduleRecord | null
  onSave: (schedule: ScheduleRecord) => void
  onClose: () => void
}

/** What is typed is kept by this name. @param agent that a new one is for; empty: to be chosen */
export const scheduleForm = (schedule: ScheduleRecord | null, agent: string): string =>
  schedule ? `schedule ${schedule.documentId} ${schedule.name}` : `schedule ${agent}`

const ANY_OBJECT: JsonObject = { type: 'object' }

export function ScheduleDialog({ agent: given, schedule, onSave, onClose }: Props) {
  const typed = useTypedForm(scheduleForm(schedule, given), () => ({
    agent: given,
    ...toForm(schedule, localZone(), printJson(schedule?.input ?? {})),
  }))
  const { set, field } = typed
  const { agent, ...form } = typed.form
  const { data: schema } = useResource(agent, async (signal) => {
    if (agent === '') return null
    const path = `/v1/agents/${encodeURIComponent(agent)}`
    return (await requestJson<AgentRecord>(path, { signal })).inputSchema as JsonObject
  })
  const check = useCheck(
    isEditable(form.input) ? { text: form.input, schema: schema ?? ANY_OBJECT, mode: 'adapting' } : null,
  )
  async function send() {
    const path = schedulePath(agent, form.name)
    const body = toBody(form, schedule)
    if (schedule === null && (await requestJson(path).catch(nullIf('ScheduleNotFound'))))
      throw new NameTaken()
    const saved = await put<ScheduleRecord>(path, { body })
    announce('The schedule is saved.')
    onClose()
    onSave(saved)
  }
  return (
    <FormDialog
      title={schedule ? `Edit ${schedule.name}` : 'Create a schedule'}
      submit={schedule ? 'Save schedule' : 'Create schedule'}
      // The service also checks what is not checked here yet.
      isReady={check.issues.every(({ kind }) => kind !== 'syntax')}
      showError={(error) => isElsewhere(error) && <ErrorBox error={error} />}
      {...{ typed, send, onClose }}
    >
      {(error) => {
        const problems = problemsOf(error)
        return (
          <>
            {schedule === null && (
              <div class="fields">
                <AgentField value={agent} onChange={(text) => set({ agent: text.trim() })} />
                <TextField
                  {...{ label: 'Name', required: true, maxLength: 64 }}
                  {...field('name')}
                  problems={form.name === '' || SCHEDULE_NAME.test(form.name) ? [] : [NAME_RULE]}
                />
              </div>
            )}
            {schedule?.declared && (
              <p class="warning-note">
                The agent declares this schedule. After a change here, new versions of the agent no longer
                change it. To give it back, delete it: the next version creates it again.
              </p>
            )}
            {typed.row({ cron: FIELDS.cron, timezone: FIELDS.timezone }, problems)}
            <Preview cron={form.cron} timezone={form.timezone} />
            {typed.row(
              {
                overlap: FIELDS.overlap,
                catchUpSeconds: { ...FIELDS.catchUp, choices: catchUpChoices(schedule?.catchUpSeconds) },
                tenantId: FIELDS.tenantId,
              },
              problems,
            )}
            <div class="labelled">
              <span class="label">Input</span>
              <JsonInput
                text={form.input}
                label="Input"
                issues={check.issues}
                onChange={(input) => set({ input })}
                onClear={() => set({ input: '{}' })}
              />
            </div>
          </>
        )
      }}
    </FormDialog>
  )
}

const FIELDS = {
  cron: {
    ...{ label: 'Times (cron)', isMono: true, required: true, maxLength: 500 },
    help: 'Minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly.',
  },
  timezone: {
    label: 'Time zone',
    required: true,
    suggestions: ['UTC', ...Intl.supportedValuesOf('timeZone')],
  },
  overlap: {
    label: 'If the last run is still in progress',
    choices: Object.entries(OVERLAP_TEXTS) as [ScheduleForm['overlap'], string][],
  },
  catchUp: { label: 'After an outage, run the last missed time' },
  tenantId: { label: 'Tenant', placeholder: 'none', maxLength: MAX_TENANT_ID },
}

const NAME_RULE = `It ${SCHEDULE_NAME_RULE}.`

/** A request that creates a schedule would replace one of the same name. */
class NameTaken extends ApiError {
  constructor() {
    super('The agent has a schedule of this name. Choose another name, or edit that one.', {
      status: 409,
      code: 'NameTaken',
    })
  }
}

const errorsOf = (error: ApiError | null) =>
  error?.code === 'InputSchemaMismatch' ? (error.problem?.errors ?? []) : []

const problemsOf = (error: ApiError | null) => problemsByField(errorsOf(error))

/** Whether an error is not only about fields, which show it. */
function isElsewhere(error: ApiError): boolean {
  const problems = problemsOf(error)
  return errorsOf(error).length === 0 || Boolean(problems.input || problems[''])
}

function Preview({ cron, timezone }: { cron: string; timezone: string }) {
  const minute = Math.floor(useNow() / 60_000)
  const times = previewTimes(cron, timezone, minute * 60_000)
  return (
    <div class="muted" role="status">
      {times === null ? (
        'The next times appear here when times and time zone are valid.'
      ) : times.length === 0 ? (
        'These times do not exist in any year.'
      ) : (
        <>
          Next times:
          <ol class="plain-list actions">
            {times.map((time) => (
              <li key={time}>{formatInZone(time, timezone.trim())}</li>
            ))}
          </ol>
        </>
      )}
    </div>
  )
}
