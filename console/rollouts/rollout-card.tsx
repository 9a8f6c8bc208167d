import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { RolloutRecord } from '../../lib/contract/records/rollout.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { remove, requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { ConfirmButton, DialogButton } from '../components/form-dialog.tsx'
import { ItemTable } from '../components/item-table.tsx'
import { Card, Facts } from '../components/page.tsx'
import { Elapsed, Time, VersionLink, VersionName } from '../components/values.tsx'
import { say } from '../components/visible-text.tsx'
import { useMayManage, useMe } from '../state/session.ts'
import { PromoteDialog } from '../versions/promote-dialog.tsx'
import { RolloutDialog, rolloutForm } from './rollout-dialog.tsx'
import { RolloutBar, RolloutFigures } from './rollout-figures.tsx'
import { describeRules } from './rollout-form.ts'

type Props = {
  agent: AgentRecord
  /** Newest first; null until they are loaded. */
  versions: VersionRecord[] | null
  onChange: (agent: AgentRecord) => void
}

export function RolloutCard({ agent, versions, onChange }: Props) {
  const mayManage = useMayManage()
  const isBound = useMe()?.tenantId != null
  const { rollout } = agent
  const candidates = (versions ?? []).filter(
    ({ id, retiredAt }) => id !== agent.currentVersionId && retiredAt === null,
  )
  const aborted = (versions ?? []).filter(({ abortedRollout }) => abortedRollout)
  const mayStart =
    mayManage && agent.archivedAt === null && agent.currentVersionId !== null && candidates.length > 0
  if (!rollout && aborted.length === 0 && !mayStart) return null
  const name = rolloutForm(agent, null)
  return (
    <Card title="Rollout" class="stack">
      {rollout ? (
        <>
          <Progress agent={agent} rollout={rollout} />
          {!isBound && <Rules agent={agent} />}
          <RolloutFigures agent={agent} />
        </>
      ) : (
        <p class="muted">All runs that name no version get the current one.</p>
      )}
      {(rollout ? mayManage : mayStart) && (
        <div class="actions">
          <DialogButton label={rollout ? 'Change rollout…' : 'Start a rollout…'} form={name}>
            {(close) => (
              <RolloutDialog
                {...{ name, agent, onChange }}
                versions={offeredOf(rollout, candidates)}
                onClose={close}
              />
            )}
          </DialogButton>
          <DialogButton label="Promote…" class="primary" isOffered={rollout !== null}>
            {(close) => (
              <PromoteDialog
                {...{ agent, onChange }}
                version={{ id: rollout?.versionId ?? '', status: 'PUBLISHED' }}
                onClose={close}
              />
            )}
          </DialogButton>
          <EndButton agent={agent} isOffered={rollout !== null} onChange={onChange} />
        </div>
      )}
      {aborted.length > 0 && <Aborted agent={agent} versions={aborted} />}
    </Card>
  )
}

/** The version that is being rolled out, or those that can be: drafts come first. */
function offeredOf(rollout: AgentRecord['rollout'], candidates: VersionRecord[]) {
  if (!rollout)
    return candidates.toSorted((a, b) => Number(b.status === 'DRAFT') - Number(a.status === 'DRAFT'))
  const listed = candidates.filter(({ id }) => id === rollout.versionId)
  const unlisted = { id: rollout.versionId, status: 'PUBLISHED', createdAt: rollout.startedAt } as const
  return listed.length > 0 ? listed : [unlisted]
}

type Running = { agent: AgentRecord; rollout: NonNullable<AgentRecord['rollout']> }

const Progress = ({ agent, rollout: { versionId, percent, key, startedAt, updatedAt } }: Running) => (
  <>
    <RolloutBar percent={percent} />
    <Facts
      facts={{
        Share: `${percent}% of the ${key === 'tenant' ? 'tenants' : 'runs'}`,
        Version: <VersionLink agent={agent.slug} versionId={versionId} />,
        Started: <Time value={startedAt} />,
        Running: <Elapsed since={startedAt} />,
        Changed: updatedAt !== startedAt && <Time value={updatedAt} />,
      }}
    />
  </>
)

function Rules({ agent }: { agent: AgentRecord }) {
  const { data } = useResource(`${agent.rollout?.versionId} ${agent.rollout?.updatedAt}`, (signal) =>
    requestJson<RolloutRecord>(`/v1/agents/${agent.id}/rollout`, { signal }),
  )
  return (
    <ul>
      {(data ? describeRules(data.abort) : ['…']).map((rule) => (
        <li key={rule}>{rule}</li>
      ))}
      {data?.abort && <li>It looks at both versions every minute.</li>}
    </ul>
  )
}

/** Of each version the last rollout that broke a rule. */
const Aborted = ({ agent, versions }: { agent: AgentRecord; versions: VersionRecord[] }) => (
  <ItemTable
    caption="Rollouts that the service has ended"
    items={versions}
    columns={{
      'Ended by the service': ({ abortedRollout }) => <Time value={abortedRollout?.at ?? null} />,
      Version: { header: ({ id }) => <VersionLink agent={agent.slug} versionId={id} /> },
      Why: { text: ({ abortedRollout }) => abortedRollout?.reason },
    }}
  />
)

type EndProps = { agent: AgentRecord; isOffered: boolean; onChange: (agent: AgentRecord) => void }

export function EndButton({ agent, isOffered, onChange }: EndProps) {
  async function end() {
    await assertUnchanged(agent, onChange)
    await remove(`/v1/agents/${agent.id}/rollout`)
    onChange(await requestJson<AgentRecord>(`/v1/agents/${agent.id}`))
  }
  const { currentVersionId: current, rollout } = agent
  return (
    <ConfirmButton
      label="End rollout…"
      class="danger"
      isOffered={isOffered}
      asks={{ title: 'End this rollout?', yes: 'End rollout', no: 'Keep rolling out' }}
      action={end}
      done="The rollout has ended."
    >
      <p>
        Within a second, all new runs that name no version get the current one
        {current !== null && say`, ${<VersionName agent={agent.slug} versionId={current} />}`}. Runs in
        progress finish on the version that they began with.
      </p>
      <p>
        To undo it, start a rollout
        {rollout && say` of ${<VersionName agent={agent.slug} versionId={rollout.versionId} />}`} again: its
        version stays published.
      </p>
    </ConfirmButton>
  )
}
