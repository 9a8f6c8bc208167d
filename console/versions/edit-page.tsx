import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import { assertUnchanged } from '../api/agent-changes.ts'
import { loadVersion, nameOfVersion } from '../api/agents.ts'
import type { ApiError } from '../api/api-error.ts'
import { post } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { announce } from '../components/button.tsx'
import { AgentPath, DetailPage } from '../components/detail-page.tsx'
import { labelsOf } from '../components/fields.tsx'
import { ActionForm } from '../components/form-dialog.tsx'
import { Card } from '../components/page.tsx'
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
  async function send() {
    await assertUnchanged(agent, onChange)
    const message = typed.form.message.trim() || undefined
    const json = { document, slug, message, draft: true, editedFrom: version.id }
    const { id } = await post<VersionDetails>('/v1/agents', { json })
    typed.forget()
    announce('The draft is saved.')
    navigate(toHref(toPath('agents', slug, 'versions', id)))
  }
  return (
    <ActionForm
      submit="Save draft"
      busy="Saving…"
      isReady={isEdited}
      labels={labelsOf(LIMITS)}
      send={send}
      after={!isEdited && <span class="muted">Nothing is edited yet.</span>}
    >
      {(error) => (
        <>
          <Restored typed={typed} onReset={typed.reset} />
          <p class="muted">
            What you edit becomes a draft: nobody gets it until it is promoted. The repository does not have
            it; the page of the draft has a patch to copy.
          </p>
          {current !== null && current !== version.id && (
            <p class="warning-note">
              This version is not current: <VersionName agent={slug} versionId={current} /> is. The draft is
              made from this one.
            </p>
          )}
          <Card title="Instructions">{typed.fields({ instructions: TEXT }, problemsOf(error))}</Card>
          <Card title="Model and limits">{typed.row({ model: MODEL, ...LIMITS }, problemsOf(error))}</Card>
          {typed.fields({ message: MESSAGE }, problemsOf(error))}
        </>
      )}
    </ActionForm>
  )
}

const TEXT = { label: 'Text for the model', isLong: true, rows: 12, required: true, spellcheck: true }
const MODEL = { label: 'Model', isMono: true, placeholder: 'The default of the service' }
const MESSAGE = { label: 'What you changed, optional', maxLength: 1_000 }

/** What the service says about fields of the document and members of the request, by the members of the form. */
function problemsOf(error: ApiError | null): Record<string, string[]> {
  const problems: Record<string, string[]> = {}
  for (const { path, field = path, message } of error?.problem?.errors ?? []) {
    const [name = ''] = field.replace(/^(?:execution\.|\/)/, '').split('.')
    problems[name] = [...(problems[name] ?? []), message.replace(/^agent\.md:\d+: (?:[\w.]+: )?/, '')]
  }
  return problems
}
