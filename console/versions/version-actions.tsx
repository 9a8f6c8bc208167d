import { useState } from 'preact/hooks'
import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { requestJson, send } from '../api/request.ts'
import { announce } from '../components/copy-button.tsx'
import { ConfirmDialog } from '../components/dialog.tsx'
import { useReopen } from '../components/typed-form.tsx'
import { RolloutDialog, rolloutForm } from '../rollouts/rollout-dialog.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMayManage, useMe } from '../state/session.ts'
import { PromoteDialog } from './promote-dialog.tsx'
import { isOlder, stateOf } from './version-state.tsx'

/** What an action returns, or what somebody else has changed meanwhile. */
export type VersionChange = { agent?: AgentRecord; version?: VersionRecord }

type Props = {
  agent: AgentRecord
  version: VersionDetails
  onChange: (changed: VersionChange) => void
}

type Action = 'promote' | 'rollout' | 'retire' | 'unretire' | 'delete'

/** What can be done with a version in its state, and with the scopes of the token. */
export function VersionActions({ agent, version, onChange }: Props) {
  const [opened, setOpened] = useState<Action | null>(null)
  const mayManage = useMayManage()
  const state = stateOf(version, agent)
  const isArchived = agent.archivedAt !== null
  const isReleasable = mayManage && !isArchived && state !== 'current' && state !== 'retired'
  const close = () => setOpened(null)
  const changeAgent = (changed: AgentRecord) => onChange({ agent: changed })
  const formName = rolloutForm(agent, version.id)
  const mayRollOut = isReleasable && agent.currentVersionId !== null
  useReopen(formName, mayRollOut, () => setOpened('rollout'))
  return (
    <>
      <TryLink agent={agent} version={version} />
      {isReleasable && (
        <button type="button" class="primary" onClick={() => setOpened('promote')}>
          {isOlder(version, agent.currentVersionId) ? 'Roll back to it…' : 'Promote…'}
        </button>
      )}
      {mayRollOut && (
        <button type="button" onClick={() => setOpened('rollout')}>
          {state === 'rollout' ? 'Change rollout…' : 'Roll out…'}
        </button>
      )}
      {mayManage && (state === 'draft' || state === 'superseded') && (
        <button type="button" onClick={() => setOpened('retire')}>
          Retire…
        </button>
      )}
      {mayManage && state === 'retired' && (
        <button type="button" onClick={() => setOpened('unretire')}>
          Make usable again…
        </button>
      )}
      {mayManage && version.status === 'DRAFT' && (
        <button type="button" class="danger" onClick={() => setOpened('delete')}>
          Delete draft…
        </button>
      )}
      {opened === 'promote' && (
        <PromoteDialog agent={agent} version={version} onChange={changeAgent} onClose={close} />
      )}
      {opened === 'rollout' && (
        <RolloutDialog
          name={formName}
          agent={agent}
          versions={[version]}
          onChange={changeAgent}
          onClose={close}
        />
      )}
      {opened === 'retire' && <RetireDialog {...{ agent, version, onChange }} onClose={close} />}
      {opened === 'unretire' && <UnretireDialog {...{ agent, version, onChange }} onClose={close} />}
      {opened === 'delete' && <DeleteDialog {...{ agent, version }} onClose={close} />}
    </>
  )
}

/** Drafts run for tokens that may also manage. */
function TryLink({ agent, version }: Pick<Props, 'agent' | 'version'>) {
  const scopes = useMe()?.scopes ?? []
  const isRefused = agent.archivedAt !== null || version.retiredAt !== null
  const mayTry = scopes.includes('run') && (version.status !== 'DRAFT' || scopes.includes('manage'))
  if (isRefused || !mayTry) return null
  // Try it runs the current version, or the draft of an agent that has no other.
  const isUsual = version.id === agent.currentVersionId || agent.currentVersionId === null
  const path = isUsual ? ['try'] : ['versions', version.id, 'try']
  return (
    <a class="button" href={toHref(toPath('agents', agent.slug, ...path))}>
      {version.status === 'DRAFT' ? 'Try draft' : 'Try it'}
    </a>
  )
}

const pathOf = ({ agent, version }: Pick<Props, 'agent' | 'version'>): string =>
  `/v1/agents/${agent.id}/versions/${version.id}`

type DialogProps = Props & { onClose: () => void }

function RetireDialog({ agent, version, onChange, onClose }: DialogProps) {
  async function retire() {
    await assertUnchanged(agent, (changed) => onChange({ agent: changed }))
    onChange({
      version: await requestJson<VersionRecord>(`${pathOf({ agent, version })}/retire`, { method: 'POST' }),
    })
    announce('The version is retired.')
    onClose()
  }
  return (
    <ConfirmDialog
      title="Retire this version?"
      label="Retire"
      keepLabel="Keep it usable"
      action={retire}
      onClose={onClose}
    >
      <p>
        Within a second, runs that name it are refused, and it cannot become current. Runs in progress finish.
      </p>
      <p>To undo it, make the version usable again on this page.</p>
    </ConfirmDialog>
  )
}

function UnretireDialog({ agent, version, onChange, onClose }: DialogProps) {
  async function unretire() {
    onChange({
      version: await requestJson<VersionRecord>(`${pathOf({ agent, version })}/unretire`, { method: 'POST' }),
    })
    announce('The version can be used again.')
    onClose()
  }
  return (
    <ConfirmDialog
      title="Make this version usable again?"
      label="Make usable"
      keepLabel="Keep it retired"
      action={unretire}
      onClose={onClose}
    >
      <p>
        Runs that name it are accepted again, and it can become current. To undo it, retire the version again.
      </p>
    </ConfirmDialog>
  )
}

function DeleteDialog({ agent, version, onClose }: Omit<DialogProps, 'onChange'>) {
  async function deleteDraft() {
    await send(pathOf({ agent, version }), { method: 'DELETE' })
    announce('The draft is deleted.')
    onClose()
    navigate(toHref(toPath('agents', agent.slug)), { replace: true })
  }
  return (
    <ConfirmDialog
      title="Delete this draft?"
      label="Delete draft"
      keepLabel="Keep draft"
      action={deleteDraft}
      onClose={onClose}
    >
      <p>
        The draft and its code are deleted. This cannot be undone: to have it again, publish it again. Its
        runs stay readable.
      </p>
    </ConfirmDialog>
  )
}
