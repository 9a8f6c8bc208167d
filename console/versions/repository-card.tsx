import type { AgentRecord, VersionDetails } from '../../lib/contract/records/agent.ts'
import { getVersion } from '../api/agents.ts'
import { useResource } from '../api/use-resource.ts'
import { CopyButton } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { TextBox } from '../components/json-view.tsx'
import { Card } from '../components/page.tsx'
import { VersionLink } from '../components/values.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { useMe } from '../state/session.ts'
import { type Editable, findObstacle, toChangedLines, toPatch } from './edited-document.ts'

type Props = { agent: AgentRecord; version: VersionDetails }

/** Leads to the form of a version that can be edited; otherwise says why it cannot. */
export function EditLink({ agent, version }: Props) {
  const me = useMe()
  if (!me) return null
  const obstacle = findObstacle(agent, version, me)
  if (obstacle !== null) return <span class="muted">{obstacle}</span>
  return (
    <a class="button small" href={toHref(toPath('agents', agent.slug, 'versions', version.id, 'edit'))}>
      Edit
    </a>
  )
}

/** What to change in the repository, which does not have this version. @param from the version that it has */
export function RepositoryCard({ agent, version, from }: Props & { from: string }) {
  const loaded = useResource(`${from} ${version.id}`, (signal) =>
    Promise.all([from, version.id].map((id) => getVersion(agent.id, id, signal, { frontMatter: true }))),
  )
  return (
    <Card title="Not in the repository" class="stack">
      <p>
        It was edited in the console, from <VersionLink agent={agent.slug} versionId={from} />. Change{' '}
        <code>agent.md</code> as below: otherwise the next version that is published from the repository
        undoes it.
      </p>
      <Loaded of={loaded} label="Loading what was edited…">
        {([before, after]) => (
          <Changes slug={agent.slug} before={before as Editable} after={after as Editable} />
        )}
      </Loaded>
    </Card>
  )
}

function Changes({ slug, before, after }: { slug: string; before: Editable; after: Editable }) {
  const lines =
    before.frontMatter && after.frontMatter ? toChangedLines(before.frontMatter, after.frontMatter) : ''
  const isText = before.instructions !== after.instructions
  const patch = isText ? toPatch(slug, before.instructions, after.instructions) : null
  return (
    <>
      {lines !== '' && <Copied title="Lines of the front matter" text={lines} />}
      {patch !== null && <Copied title="Patch of the instructions, for git apply" text={patch} />}
      {isText && patch === null && <p>Most lines of the instructions differ: copy all of them.</p>}
      {lines === '' && !isText && <p>Its document is the same.</p>}
    </>
  )
}

const Copied = ({ title, text }: { title: string; text: string }) => (
  <div class="stack">
    <div class="toolbar">
      <h3>{title}</h3>
      <CopyButton text={text} subject={title} />
    </div>
    <TextBox label={title}>
      <VisibleText text={text} />
    </TextBox>
  </div>
)
