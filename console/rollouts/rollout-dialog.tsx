import { useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { RolloutRecord } from '../../lib/contract/records/rollout.ts'
import { MAX_COST_INCREASE, ROLLOUT_MIN_RUNS, ROLLOUT_PERCENT } from '../../lib/core/limits.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { put, requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { Dialog } from '../components/dialog.tsx'
import { SelectField } from '../components/field.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { useTypedForm } from '../components/typed-form.tsx'
import { VersionName } from '../components/values.tsx'
import { ReleaseError } from '../versions/gate.tsx'
import { newestEnded, TrialChoice, useRelease } from '../versions/release.tsx'
import { describeVersion } from '../versions/version-state.tsx'
import { newRollout, type RolloutForm, toBody, toForm } from './rollout-form.ts'

type Props = {
  /** Of `rolloutForm`, as the dialog is opened. */
  name: string
  agent: AgentRecord
  /** Those that may be rolled out, the suggested one first. With one, there is nothing to choose. */
  versions: (Pick<VersionRecord, 'id' | 'status' | 'createdAt'> & Partial<Pick<VersionRecord, 'number'>>)[]
  /** With the agent after the change, or as somebody else has changed it meanwhile. */
  onChange: (agent: AgentRecord) => void
  onClose: () => void
}

/** The name by which it is kept what is typed. @param versionId on whose page it is, null if it can be chosen */
export const rolloutForm = ({ id, rollout }: AgentRecord, versionId: string | null): string =>
  `rollout ${id} ${rollout ? `of ${rollout.versionId}` : ''} ${versionId ?? ''}`

export function RolloutDialog(props: Props) {
  const { agent, versions, onClose } = props
  const { id: agentId, rollout } = agent
  // As the dialog was opened: the agent follows what others do.
  const [name] = useState(props.name)
  const [isChange] = useState(() => versions.some(({ id }) => id === rollout?.versionId))
  const initial = useResource(agentId, async (signal) =>
    // The agent does not tell the rules.
    isChange
      ? toForm(await requestJson<RolloutRecord>(`/v1/agents/${agentId}/rollout`, { signal }))
      : newRollout(versions[0]?.id ?? ''),
  )
  if (initial.data) return <Form {...props} {...{ name, isChange }} initial={initial.data} />
  return (
    <Dialog title={titleOf(isChange)} onClose={onClose}>
      <Loaded of={initial} label="Loading the rollout…">
        {() => null}
      </Loaded>
    </Dialog>
  )
}

const titleOf = (isChange: boolean) => (isChange ? 'Change the rollout' : 'Start a rollout')

const SHARE = {
  percent: { label: 'Share of the runs (%)', range: { ...ROLLOUT_PERCENT, step: 0.01 }, required: true },
  key: {
    label: 'What gets the version',
    radios: { tenant: 'all runs of a tenant, or none', execution: 'each run on its own' },
  },
}
const RULES = {
  maxErrorRate: {
    label: 'more than this share of its runs failed (%)',
    range: { min: 0, max: 100, step: 0.01 },
  },
  maxCostIncrease: {
    label: 'a run costs more than now by over (%)',
    range: { min: 0, max: MAX_COST_INCREASE * 100, step: 0.01 },
  },
  maxScoreDrop: {
    label: 'a mean score is lower than now by over (0 to 1)',
    range: { min: 0, max: 1, step: 0.001 },
  },
  minRuns: { label: 'and it has at least this many runs', range: { ...ROLLOUT_MIN_RUNS, step: 1 } },
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
  async function send() {
    await assertUnchanged(agent, onChange)
    const body = JSON.stringify(toBody({ ...form, trial }))
    await put<RolloutRecord>(`/v1/agents/${agent.id}/rollout`, { body })
    const changed = await requestJson<AgentRecord>(`/v1/agents/${agent.id}`)
    announce(isChange ? 'The rollout is changed.' : 'The rollout has started.')
    onClose()
    onChange(changed)
  }

  const percent = Number(form.percent)
  const isPercent = percent >= ROLLOUT_PERCENT.min && percent <= ROLLOUT_PERCENT.max
  return (
    <FormDialog
      title={titleOf(isChange)}
      submit={isChange ? 'Change rollout' : 'Start rollout'}
      isReady={isChange || release.data !== null || release.error !== null}
      showError={(error) => <ReleaseError error={error} agent={agent.slug} versionId={form.versionId} />}
      {...{ typed, send, onClose }}
    >
      {versions.length > 1 && !isChange ? (
        <SelectField
          label="Version"
          value={form.versionId}
          onChange={(versionId) => set({ versionId, chosen: null })}
          choices={versions.map((version) => [version.id, describeVersion(version)])}
        />
      ) : (
        <p>
          Version <VersionName agent={agent.slug} versionId={form.versionId} />
        </p>
      )}
      {typed.fields(SHARE)}
      <fieldset class="fields">
        <legend>The service ends it automatically when</legend>
        {typed.fields(RULES)}
        <p class="muted">Empty: not for this reason. Both empty: never.</p>
      </fieldset>
      {release.error && <ErrorBox error={release.error} onRetry={release.reload} />}
      {!isChange && release.data && (
        <TrialChoice
          {...release.data}
          value={trial}
          onChange={(id) => set({ chosen: id })}
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
    </FormDialog>
  )
}

const replaces = ({ rollout }: AgentRecord, versionId: string): boolean =>
  rollout !== null && rollout.versionId !== versionId
