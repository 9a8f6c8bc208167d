import '../schema/schema.css'
import type { TargetedSubmitEvent } from 'preact'
import { useId } from 'preact/hooks'
import type { AgentRecord } from '../../lib/contract/records/agent-record.ts'
import type { ScheduleRecord } from '../../lib/contract/records/schedule-record.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { SCHEDULE_NAME, SCHEDULE_NAME_RULE } from '../../lib/core/schedule.ts'
import { ApiError } from '../api/api-error.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { Dialog, useAction } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { AgentInput } from '../components/filter-bar.tsx'
import { formatInZone } from '../components/format.ts'
import { printJson } from '../components/json-tree.ts'
import { ErrorBox } from '../components/page.tsx'
import { Restored, useTypedForm } from '../components/typed-form.tsx'
import { useNow } from '../components/values.tsx'
import { JsonEditor, LargeText } from '../schema/json-editor.tsx'
import { useCheck } from '../schema/run-check.ts'
import { isEditable } from '../schema/use-large-input.ts'
import { schedulePath } from './list-schedules.ts'
import { localZone, previewTimes } from './preview-times.ts'
import {
  CATCH_UP_CHOICES,
  describeCatchUp,
  OVERLAP_TEXTS,
  problemsByField,
  type ScheduleForm,
  toBody,
  toForm,
} from './schedules.ts'

type Props = {
  /** ID or slug; empty: to be chosen. */
  agent: string
  /** Null: it is new. */
  schedule: ScheduleRecord | null
  onSave: (schedule: ScheduleRecord) => void
  onClose: () => void
}

/** What is typed is kept by this name. @param agent that a new one is for; empty: to be chosen */
export const scheduleForm = (schedule: ScheduleRecord | null, agent: string): string =>
  schedule ? `schedule ${schedule.documentId} ${schedule.name}` : `schedule ${agent}`

const ANY_OBJECT: JsonObject = { type: 'object' }

/** A form that creates a schedule, or changes one. */
export function ScheduleDialog({ agent: given, schedule, onSave, onClose }: Props) {
  const id = useId()
  const typed = useTypedForm(scheduleForm(schedule, given), () => ({
    agent: given,
    ...toForm(schedule, localZone(), printJson(schedule?.input ?? {})),
  }))
  const { agent, ...form } = typed.form
  const set: (change: Partial<ScheduleForm>) => void = typed.set
  const { data: schema } = useResource(agent, async (signal) => {
    if (agent === '') return null
    const { inputSchema } = await requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(agent)}`, {
      signal,
    })
    return inputSchema as JsonObject
  })
  const isShown = isEditable(form.input)
  const check = useCheck(
    isShown ? { text: form.input, schema: schema ?? ANY_OBJECT, mode: 'adapting' } : null,
  )
  const isJson = check.issues.every(({ kind }) => kind !== 'syntax')
  const save = useAction(async () => {
    const path = schedulePath(agent, form.name)
    const body = toBody(form, schedule)
    if (schedule === null && (await exists(path))) throw new NameTaken()
    const saved = await requestJson<ScheduleRecord>(path, { method: 'PUT', body })
    typed.forget()
    onSave(saved)
  })
  const errors = save.error?.code === 'InputSchemaMismatch' ? (save.error.problem?.errors ?? []) : []
  const problems = problemsByField(errors)

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    // The service also checks what is not checked here yet.
    if (isJson) void save.start()
  }

  function close() {
    typed.forget()
    onClose()
  }

  const text = (name: 'name' | 'cron' | 'timezone' | 'tenantId') => ({
    value: form[name],
    autocomplete: 'off',
    spellcheck: false,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => set({ [name]: currentTarget.value }),
  })
  return (
    <Dialog title={schedule ? `Edit ${schedule.name}` : 'Create a schedule'} onClose={close}>
      <form class="form" onSubmit={submit}>
        <Restored typed={typed} />
        {schedule === null && (
          <div class="schedule-fields">
            <div class="schedule-field">
              <label for={`${id}-agent`}>Agent</label>
              <AgentInput
                id={`${id}-agent`}
                value={agent}
                required
                onCommit={(text) => typed.set({ agent: text.trim() })}
              />
            </div>
            <Field
              class="schedule-field"
              label="Name"
              problems={form.name === '' || SCHEDULE_NAME.test(form.name) ? [] : [NAME_RULE]}
            >
              {(attributes) => <input {...attributes} {...text('name')} required maxLength={64} />}
            </Field>
          </div>
        )}
        {schedule?.declared && (
          <p class="schedule-note">
            The agent declares this schedule. After a change here, new versions of the agent no longer change
            it. To give it back, delete it: the next version creates it again.
          </p>
        )}
        <div class="schedule-fields">
          <Field
            class="schedule-field"
            label="Times (cron)"
            problems={problems.cron}
            help="Minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly."
          >
            {(attributes) => (
              <input {...attributes} {...text('cron')} class="mono" required maxLength={500} />
            )}
          </Field>
          <Field class="schedule-field" label="Time zone" problems={problems.timezone}>
            {(attributes) => (
              <>
                <input {...attributes} {...text('timezone')} required list={`${id}-zones`} />
                <datalist id={`${id}-zones`}>
                  {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
                    <option key={zone} value={zone} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        </div>
        <Preview cron={form.cron} timezone={form.timezone} />
        <div class="schedule-fields">
          <Field
            class="schedule-field"
            label="If the last run is still in progress"
            problems={problems.overlap}
          >
            {(attributes) => (
              <select
                {...attributes}
                value={form.overlap}
                onChange={({ currentTarget }) =>
                  set({ overlap: currentTarget.value as ScheduleForm['overlap'] })
                }
              >
                {Object.entries(OVERLAP_TEXTS).map(([overlap, label]) => (
                  <option key={overlap} value={overlap}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field
            class="schedule-field"
            label="After an outage, run the last missed time"
            problems={problems.catchUpSeconds}
          >
            {(attributes) => (
              <select
                {...attributes}
                value={form.catchUpSeconds}
                onChange={({ currentTarget }) => set({ catchUpSeconds: Number(currentTarget.value) })}
              >
                {catchUpChoices(schedule?.catchUpSeconds).map((seconds) => (
                  <option key={seconds} value={seconds}>
                    {describeCatchUp(seconds)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field class="schedule-field" label="Tenant" problems={problems.tenantId}>
            {(attributes) => (
              <input {...attributes} {...text('tenantId')} placeholder="none" maxLength={MAX_TENANT_ID} />
            )}
          </Field>
        </div>
        <div class="schedule-field">
          <span class="schedule-label">Input</span>
          {isShown ? (
            <JsonEditor
              text={form.input}
              label="Input as JSON"
              issues={check.issues}
              onChange={(input) => set({ input })}
            />
          ) : (
            <LargeText text={form.input} label="Input" issues={[]} onClear={() => set({ input: '{}' })} />
          )}
        </div>
        {save.error && !save.isRunning && (errors.length === 0 || problems.input || problems['']) && (
          <ErrorBox error={save.error} />
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary" disabled={save.isRunning || !isJson}>
            {schedule ? 'Save schedule' : 'Create schedule'}
          </button>
        </div>
      </form>
    </Dialog>
  )
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

async function exists(path: string): Promise<boolean> {
  try {
    await requestJson<ScheduleRecord>(path)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'ScheduleNotFound') return false
    throw error
  }
}

const catchUpChoices = (current: number | undefined): number[] =>
  [
    ...new Set([...Object.keys(CATCH_UP_CHOICES).map(Number), ...(current === undefined ? [] : [current])]),
  ].sort((a, b) => a - b)

/** The next times of what is typed. */
function Preview({ cron, timezone }: { cron: string; timezone: string }) {
  const minute = Math.floor(useNow() / 60_000)
  const times = previewTimes(cron, timezone, minute * 60_000)
  return (
    <div class="schedule-preview muted" role="status">
      {times === null ? (
        'The next times appear here when times and time zone are valid.'
      ) : times.length === 0 ? (
        'These times do not exist in any year.'
      ) : (
        <>
          Next times:
          <ol>
            {times.map((time) => (
              <li key={time}>{formatInZone(time, timezone.trim())}</li>
            ))}
          </ol>
        </>
      )}
    </div>
  )
}
