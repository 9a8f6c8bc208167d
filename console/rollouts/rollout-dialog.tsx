import './rollouts.css'
import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { RolloutRecord } from '../../lib/contract/records/rollout.ts'
import { MAX_COST_INCREASE, ROLLOUT_MIN_RUNS, ROLLOUT_PERCENT } from '../../lib/core/limits.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/copy-button.tsx'
import { Dialog, useAction } from '../components/dialog.tsx'
import { Choices, Field, NumberField } from '../components/field.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { ErrorBox, Spinner } from '../components/page.tsx'
import { Restored, useForgetForm, useTypedForm } from '../components/typed-form.tsx'
import { ReleaseError } from '../versions/gate.tsx'
import { TrialChoice } from '../versions/trial-choice.tsx'
import { newestEnded, useRelease } from '../versions/use-release.ts'
import { newRollout, type RolloutForm, toBody, toForm } from './rollout-form.ts'

type Props = {
  /** Of `rolloutForm`, as the dialog is opened. */
  name: string
  agent: AgentRecord
  /** Those that may be rolled out, the suggested one first. With one, there is nothing to choose. */
  versions: Pick<VersionRecord, 'id' | 'status' | 'createdAt'>[]
  /** With the agent after the change, or as somebody else has changed it meanwhile. */
  onChange: (agent: AgentRecord) => void
  onClose: () => void
}

/**
 * What is typed is kept by this name.
 * @param versionId on whose page it is; null: it can be chosen
 */
export const rolloutForm = ({ id, rollout }: AgentRecord, versionId: string | null): string =>
  `rollout ${id} ${rollout ? `of ${rollout.versionId}` : ''} ${versionId ?? ''}`

/** Starts a rollout or changes the one that is in progress. */
export function RolloutDialog({ name: openedName, agent, versions, onChange, onClose }: Props) {
  const { id: agentId, rollout } = agent
  const first = versions[0]?.id ?? ''
  // As the dialog was opened: the agent follows what others do.
  const [name] = useState(openedName)
  const [isRunning] = useState(() => versions.some(({ id }) => id === rollout?.versionId))
  const { data, error, reload } = useResource(agentId, async (signal) => ({
    // The agent does not tell the rules.
    form: isRunning
      ? toForm(await requestJson<RolloutRecord>(`/v1/agents/${agentId}/rollout`, { signal }))
      : newRollout(first),
  }))
  const forget = useForgetForm(name)
  function close() {
    forget()
    onClose()
  }
  return (
    <Dialog title={isRunning ? 'Change the rollout' : 'Start a rollout'} onClose={close}>
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <Spinner label="Loading the rollout…" />}
      {data && (
        <Form
          {...{ name, agent, versions, onChange }}
          initial={data.form}
          isChange={isRunning}
          onClose={close}
        />
      )}
    </Dialog>
  )
}

type FormProps = Props & { initial: RolloutForm; isChange: boolean }

function Form({ name, agent, versions, initial, isChange, onChange, onClose }: FormProps) {
  const typed = useTypedForm(name, () => ({ ...initial, chosen: null as string | null }))
  const { set } = typed
  const isOffered = versions.some((version) => version.id === typed.form.versionId)
  const { chosen, ...form } = isOffered
    ? typed.form
    : { ...typed.form, versionId: initial.versionId, chosen: null }
  const release = useRelease(agent, form.versionId)
  const needsTrial = !isChange && release.data?.gate?.require === 'trial'
  const trial = chosen ?? (needsTrial ? (newestEnded(release.data?.trials ?? [])?.id ?? '') : '')
  const { isRunning, error, start } = useAction(async () => {
    await assertUnchanged(agent, onChange)
    const body = JSON.stringify(toBody({ ...form, trial }))
    await requestJson<RolloutRecord>(`/v1/agents/${agent.id}/rollout`, { method: 'PUT', body })
    const changed = await requestJson<AgentRecord>(`/v1/agents/${agent.id}`)
    announce(isChange ? 'The rollout is changed.' : 'The rollout has started.')
    onClose()
    onChange(changed)
  })

  function save(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    void start()
  }

  const percent = Number(form.percent)
  const isPercent = percent >= ROLLOUT_PERCENT.min && percent <= ROLLOUT_PERCENT.max
  return (
    <form class="form" onSubmit={save}>
      <Restored typed={typed} />
      {versions.length > 1 && !isChange ? (
        <Field label="Version">
          {(attributes) => (
            <select
              {...attributes}
              class="rollout-version"
              value={form.versionId}
              onChange={({ currentTarget }) => set({ versionId: currentTarget.value, chosen: null })}
            >
              {versions.map((version) => (
                <option key={version.id} value={version.id}>
                  {shortId(version.id)}, {formatTime(version.createdAt)}
                  {version.status === 'DRAFT' && ' (draft)'}
                </option>
              ))}
            </select>
          )}
        </Field>
      ) : (
        <p>
          Version <code>{shortId(form.versionId)}</code>
        </p>
      )}
      <NumberField
        class="rollout-field"
        label="Share of the runs (%)"
        value={form.percent}
        range={{ ...ROLLOUT_PERCENT, step: 0.01 }}
        isRequired
        onInput={(value) => set({ percent: value })}
      />
      <Choices
        label="What gets the version"
        choices={{ tenant: 'all runs of a tenant, or none', execution: 'each run on its own' }}
        chosen={form.key}
        onChoose={(key) => set({ key })}
      />
      <fieldset class="rollout-rules">
        <legend>The service ends it automatically when</legend>
        <NumberField
          class="rollout-field"
          label="more than this share of its runs failed (%)"
          value={form.maxErrorRate}
          range={{ min: 0, max: 100, step: 0.01 }}
          onInput={(value) => set({ maxErrorRate: value })}
        />
        <NumberField
          class="rollout-field"
          label="a run costs more than now by over (%)"
          value={form.maxCostIncrease}
          range={{ min: 0, max: MAX_COST_INCREASE * 100, step: 0.01 }}
          onInput={(value) => set({ maxCostIncrease: value })}
        />
        <NumberField
          class="rollout-field"
          label="and it has at least this many runs"
          value={form.minRuns}
          range={{ ...ROLLOUT_MIN_RUNS, step: 1 }}
          onInput={(value) => set({ minRuns: value })}
        />
        <p class="muted">Empty: not for this reason. Both empty: never.</p>
      </fieldset>
      {release.error && <ErrorBox error={release.error} onRetry={release.reload} />}
      {!isChange && release.data && (
        <TrialChoice
          {...release.data}
          chosen={trial}
          onChoose={(id) => set({ chosen: id })}
          agent={agent.slug}
          versionId={form.versionId}
        />
      )}
      <p>
        {isPercent &&
          `Within a second, ${percent}% of the ${form.key === 'tenant' ? 'tenants' : 'runs'} get this version and the others the current one, unless a run names another. `}
        {replaces(agent, form.versionId) && 'It takes the place of the rollout in progress. '}
        {versions.find((version) => version.id === form.versionId)?.status === 'DRAFT' &&
          'The draft is published by this, without becoming current. '}
        To undo it, end the rollout: then all runs get the current version.
      </p>
      {error && <ReleaseError error={error} agent={agent.slug} versionId={form.versionId} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <button
          type="submit"
          class="primary"
          disabled={isRunning || (!isChange && !release.data && !release.error)}
        >
          {isChange ? 'Change rollout' : 'Start rollout'}
        </button>
      </div>
    </form>
  )
}

const replaces = ({ rollout }: AgentRecord, versionId: string): boolean =>
  rollout !== null && rollout.versionId !== versionId
