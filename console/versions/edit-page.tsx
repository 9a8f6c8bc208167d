import type { TargetedSubmitEvent } from 'preact'
import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { loadVersion, nameOfVersion } from '../api/agents.ts'
import { type ApiError, withLabels } from '../api/api-error.ts'
import { requestJson } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/copy-button.tsx'
import { Card } from '../components/data.tsx'
import { AgentPath, DetailPage } from '../components/detail-page.tsx'
import { useAction } from '../components/dialog.tsx'
import { Fields, labelsOf } from '../components/fields.tsx'
import { ErrorBox } from '../components/page.tsx'
import { Restored, useTypedForm } from '../components/typed-form.tsx'
import { VersionLink, VersionName } from '../components/values.tsx'
import { navigate, toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { type Editable, findObstacle, LIMITS, toEditedDocument, toEditForm } from './edited-document.ts'

export function EditPage({ agent: idOrSlug, versionId }: { agent: string; versionId: string }) {
  const me = useMe()
  const loaded = useResource(`${idOrSlug} ${versionId}`, (signal) =>
    loadVersion(idOrSlug, versionId, signal, { frontMatter: true }),
  )
  const { agent, version } = loaded.data ?? {}
  return (
    <DetailPage
      of={loaded}
      label="Loading the version…"
      title={`Edit version ${nameOfVersion(version ?? { id: versionId })}`}
      parent={
        <>
          <AgentPath agent={agent?.slug ?? idOrSlug} title={agent?.title} /> ›{' '}
          <VersionLink agent={agent?.slug ?? idOrSlug} versionId={versionId} />
        </>
      }
      scope="manage"
    >
      {(data) => {
        const obstacle = me && findObstacle(data.agent, data.version, me)
        if (obstacle) return <p class="empty">{obstacle}</p>
        const onChange = (changed: AgentRecord) => loaded.setData({ ...data, agent: changed })
        return <EditForm {...data} version={data.version as Props['version']} onChange={onChange} />
      }}
    </DetailPage>
  )
}

type Props = {
  agent: AgentRecord
  version: VersionDetails & Editable
  /** With the agent as somebody else has changed it meanwhile. */
  onChange: (agent: AgentRecord) => void
}

function EditForm({ agent, version, onChange }: Props) {
  const typed = useTypedForm(`edit ${agent.id} ${version.id}`, () => toEditForm(version))
  const { currentVersionId: current, slug } = agent
  const document = toEditedDocument(version, typed.form)
  const isEdited = document !== toEditedDocument(version, toEditForm(version))
  const { isRunning, error, start } = useAction(async () => {
    await assertUnchanged(agent, onChange)
    const message = typed.form.message.trim() || undefined
    const body = JSON.stringify({ document, slug, message, draft: true, editedFrom: version.id })
    const { id } = await requestJson<VersionDetails>('/v1/agents', { method: 'POST', body })
    typed.forget()
    announce('The draft is saved.')
    navigate(toHref(toPath('agents', slug, 'versions', id)))
  })
  const problems = (name: string) => problemsOf(error, name)
  const limits = Object.entries(LIMITS).map(
    ([name, field]) => [name, { ...field, problems: problems(`execution.${name}`) }] as const,
  )

  function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isEdited) void start()
  }
  return (
    <form class="stack" onSubmit={submit}>
      <Restored typed={typed} onReset={typed.reset} />
      <p class="muted note">
        What you edit becomes a draft: nobody gets it until it is promoted. The repository does not have it;
        the page of the draft has a patch to copy.
      </p>
      {current !== null && current !== version.id && (
        <p class="warning-note">
          This version is not current: <VersionName agent={slug} versionId={current} /> is. The draft is made
          from this one.
        </p>
      )}
      <Card title="Instructions">
        <Fields
          of={typed}
          fields={{
            instructions: {
              ...{ label: 'Text for the model', isLong: true, rows: 12, required: true, spellcheck: true },
              problems: problems('instructions'),
            },
          }}
        />
      </Card>
      <Card title="Model and limits">
        <div class="fields">
          <Fields
            of={typed}
            fields={{
              model: {
                ...{ label: 'Model', isMono: true, placeholder: 'The default of the service' },
                problems: problems('model'),
              },
              ...Object.fromEntries(limits),
            }}
          />
        </div>
      </Card>
      <Fields
        of={typed}
        fields={{
          message: { label: 'What you changed, optional', maxLength: 1_000, problems: problems('/message') },
        }}
      />
      {error && <ErrorBox error={withLabels(error, labelsOf(LIMITS))} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={isRunning || !isEdited}>
          {isRunning ? 'Saving…' : 'Save draft'}
        </button>
        {!isEdited && <span class="muted">Nothing is edited yet.</span>}
      </div>
    </form>
  )
}

/** What the service says about a field of the document, or a member of the request. */
const problemsOf = (error: ApiError | null, name: string): string[] =>
  (error?.problem?.errors ?? [])
    .filter(({ path, field = path }) => field === name || field.startsWith(`${name}.`))
    .map(({ message }) => message.replace(/^agent\.md:\d+: (?:[\w.]+: )?/, ''))
