import './rollouts.css'
import { useState } from 'preact/hooks'
import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import type { RolloutRecord } from '../../lib/contract/records/rollout.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { requestJson, send } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/copy-button.tsx'
import { Card, Facts, Table } from '../components/data.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { shortId } from '../components/format.ts'
import { useReopen } from '../components/typed-form.tsx'
import { Elapsed, Time, VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { useMayManage, useMe } from '../state/session.ts'
import { PromoteDialog } from '../versions/promote-dialog.tsx'
import { RolloutBar } from './rollout-bar.tsx'
import { RolloutDialog, rolloutForm } from './rollout-dialog.tsx'
import { RolloutFigures } from './rollout-figures.tsx'
import { describeRules } from './rollout-form.ts'

type Props = {
  agent: AgentRecord
  /** Newest first; null until they are loaded. */
  versions: VersionRecord[] | null
  onChange: (agent: AgentRecord) => void
}

/** The version is kept: somebody else may end the rollout while the dialog is open. */
type Action = 'form' | 'end' | { promote: Pick<VersionRecord, 'id' | 'status'> }

/** The rollout of an agent, how it goes, and those that the service has ended. */
export function RolloutCard({ agent, versions, onChange }: Props) {
  const [opened, setOpened] = useState<Action | null>(null)
  const mayManage = useMayManage()
  const isBound = useMe()?.tenantId != null
  const close = () => setOpened(null)
  const { rollout } = agent
  const candidates = (versions ?? []).filter(
    ({ id, retiredAt }) => id !== agent.currentVersionId && retiredAt === null,
  )
  const offered = rollout
    ? candidates.filter(({ id }) => id === rollout.versionId)
    : candidates.toSorted((a, b) => Number(b.status === 'DRAFT') - Number(a.status === 'DRAFT'))
  const aborted = (versions ?? []).filter(({ abortedRollout }) => abortedRollout)
  const mayStart =
    mayManage && agent.archivedAt === null && agent.currentVersionId !== null && candidates.length > 0
  const formName = rolloutForm(agent, null)
  useReopen(formName, rollout ? mayManage : mayStart, () => setOpened('form'))
  if (!rollout && aborted.length === 0 && !mayStart) return null
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
      {mayManage && rollout && (
        <div class="actions">
          <button type="button" onClick={() => setOpened('form')}>
            Change rollout…
          </button>
          <button
            type="button"
            class="primary"
            onClick={() => setOpened({ promote: { id: rollout.versionId, status: 'PUBLISHED' } })}
          >
            Promote…
          </button>
          <button type="button" class="danger" onClick={() => setOpened('end')}>
            End rollout…
          </button>
        </div>
      )}
      {!rollout && mayStart && (
        <div class="actions">
          <button type="button" onClick={() => setOpened('form')}>
            Start a rollout…
          </button>
        </div>
      )}
      {aborted.length > 0 && <Aborted agent={agent} versions={aborted} />}
      {opened === 'form' && (
        <RolloutDialog
          name={formName}
          agent={agent}
          versions={
            offered.length > 0
              ? offered
              : rollout
                ? [{ id: rollout.versionId, status: 'PUBLISHED', createdAt: rollout.startedAt }]
                : []
          }
          onChange={onChange}
          onClose={close}
        />
      )}
      {typeof opened === 'object' && opened && (
        <PromoteDialog agent={agent} version={opened.promote} onChange={onChange} onClose={close} />
      )}
      {opened === 'end' && <EndDialog agent={agent} onChange={onChange} onClose={close} />}
    </Card>
  )
}

type Running = { agent: AgentRecord; rollout: NonNullable<AgentRecord['rollout']> }

function Progress({ agent, rollout: { versionId, percent, key, startedAt, updatedAt } }: Running) {
  return (
    <>
      <RolloutBar percent={percent} />
      <Facts
        facts={{
          Share: `${percent}% of the ${key === 'tenant' ? 'tenants' : 'runs'}`,
          Version: <VersionLink agent={agent.slug} versionId={versionId} />,
          Started: <Time value={startedAt} />,
          For: <Elapsed since={startedAt} />,
          Changed: updatedAt !== startedAt && <Time value={updatedAt} />,
        }}
      />
    </>
  )
}

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
  <Table caption="Rollouts that the service has ended" columns={['Ended by the service', 'Version', 'Why']}>
    {versions.map(({ id, abortedRollout }) => (
      <tr key={id}>
        <td>
          <Time value={abortedRollout?.at ?? null} />
        </td>
        <th scope="row">
          <VersionLink agent={agent.slug} versionId={id} />
        </th>
        <td class="version-message">
          {abortedRollout?.reason === undefined ? (
            <span class="muted">–</span>
          ) : (
            <VisibleText text={abortedRollout.reason} />
          )}
        </td>
      </tr>
    ))}
  </Table>
)

type EndProps = { agent: AgentRecord; onChange: (agent: AgentRecord) => void; onClose: () => void }

function EndDialog({ agent, onChange, onClose }: EndProps) {
  async function end() {
    await assertUnchanged(agent, onChange)
    await send(`/v1/agents/${agent.id}/rollout`, { method: 'DELETE' })
    const changed = await requestJson<AgentRecord>(`/v1/agents/${agent.id}`)
    announce('The rollout has ended.')
    onClose()
    onChange(changed)
  }
  const { currentVersionId: current, rollout } = agent
  return (
    <ConfirmDialog
      title="End this rollout?"
      label="End rollout"
      keepLabel="Keep rolling out"
      action={end}
      onClose={onClose}
    >
      <p>
        Within a second, all new runs that name no version get the current one
        {current !== null && (
          <>
            , <code>{shortId(current)}</code>
          </>
        )}
        . Runs in progress finish on the version that they began with.
      </p>
      <p>
        To undo it, start a rollout
        {rollout && (
          <>
            {' '}
            of <code>{shortId(rollout.versionId)}</code>
          </>
        )}{' '}
        again: its version stays published.
      </p>
    </ConfirmDialog>
  )
}
