import type { AgentRecord, VersionDetails, VersionRecord } from '../../lib/contract/records/agent.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { post, remove } from '../api/request.ts'
import { ConfirmButton, DialogButton } from '../components/form-dialog.tsx'
import { RolloutDialog, rolloutForm } from '../rollouts/rollout-dialog.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMayManage, useMe } from '../state/session.ts'
import { trialHref } from './gate.tsx'
import { PromoteDialog } from './promote-dialog.tsx'
import { isOlder, stateOf } from './version-state.tsx'

/** What an action returns, or what somebody else has changed meanwhile. */
export type VersionChange = { agent?: AgentRecord; version?: VersionRecord }

type Props = {
  agent: AgentRecord
  version: VersionDetails
  onChange: (changed: VersionChange) => void
}

export function VersionActions({ agent, version, onChange }: Props) {
  const mayManage = useMayManage()
  const state = stateOf(version, agent)
  const isReleasable = mayManage && agent.archivedAt === null && state !== 'current' && state !== 'retired'
  const changeAgent = (changed: AgentRecord) => onChange({ agent: changed })
  const name = rolloutForm(agent, version.id)
  const path = `/v1/agents/${agent.id}/versions/${version.id}`
  const act = async (action: 'retire' | 'unretire') =>
    onChange({ version: await post<VersionRecord>(`${path}/${action}`) })
  return (
    <>
      <TryLink agent={agent} version={version} />
      {isReleasable && (
        <a class="button" href={trialHref(agent.slug, version.id)}>
          Start a trial
        </a>
      )}
      <DialogButton
        label={isOlder(version, agent.currentVersionId) ? 'Roll back to it…' : 'Promote…'}
        class="primary"
        isOffered={isReleasable}
      >
        {(close) => <PromoteDialog agent={agent} version={version} onChange={changeAgent} onClose={close} />}
      </DialogButton>
      <DialogButton
        label={state === 'rollout' ? 'Change rollout…' : 'Roll out…'}
        isOffered={isReleasable && agent.currentVersionId !== null}
        form={name}
      >
        {(close) => (
          <RolloutDialog {...{ name, agent }} versions={[version]} onChange={changeAgent} onClose={close} />
        )}
      </DialogButton>
      <ConfirmButton
        label="Retire…"
        isOffered={mayManage && (state === 'draft' || state === 'superseded')}
        asks={{ title: 'Retire this version?', yes: 'Retire', no: 'Keep it usable' }}
        action={async () => {
          await assertUnchanged(agent, changeAgent)
          await act('retire')
        }}
        done="The version is retired."
        text={[
          'Within a second, runs that name it are refused, and it cannot become current. Runs in progress finish.',
          'To undo it, make the version usable again on this page.',
        ]}
      />
      <ConfirmButton
        label="Make usable again…"
        isOffered={mayManage && state === 'retired'}
        asks={{ title: 'Make this version usable again?', yes: 'Make usable', no: 'Keep it retired' }}
        action={() => act('unretire')}
        done="The version can be used again."
        text="Runs that name it are accepted again, and it can become current. To undo it, retire the version again."
      />
      <ConfirmButton
        label="Delete draft…"
        class="danger"
        isOffered={mayManage && version.status === 'DRAFT'}
        asks={{ title: 'Delete this draft?', yes: 'Delete draft', no: 'Keep draft' }}
        action={async () => {
          await remove(path)
          navigate(toHref(toPath('agents', agent.slug)), { replace: true })
        }}
        done="The draft is deleted."
        text="The draft and its code are deleted. This cannot be undone: to have it again, publish it again. Its runs stay readable."
      />
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
