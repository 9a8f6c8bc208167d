import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api/api-error.ts'
import { toHref, toPath } from '../state/location.ts'
import type { Scope } from '../state/session.ts'
import { ErrorBox, Facts, NeedsScope, Page, Spinner } from './page.tsx'
import { TextLink } from './visible-text.tsx'

type LoadedProps<T> = {
  of: { data: T | null; error: ApiError | null; reload: () => void }
  /** While there is nothing to show: `Loading the batch…`. */
  label: string
  children: (data: T) => ComponentChildren
}

/** Shows the loaded value, which stays while it is loaded again; until then a spinner. Above it, the error. */
export const Loaded = <T,>({ of: { data, error, reload }, label, children }: LoadedProps<T>) => (
  <>
    {error && <ErrorBox error={error} onRetry={reload} />}
    {data === null && !error && <Spinner label={label} />}
    {data !== null && children(data)}
  </>
)

type PageProps<T> = LoadedProps<T> & {
  title: string
  parent: ComponentChildren
  detail?: (data: T) => ComponentChildren
  actions?: (data: T) => ComponentChildren
  /** Tokens without it see which one is missing. */
  scope?: Scope
  /** Also while nothing is loaded. */
  after?: ComponentChildren
}

/** The page of one thing: its title and state, what can be done with it, and parts below each other. */
export function DetailPage<T>({ title, parent, detail, actions, scope, after, ...loaded }: PageProps<T>) {
  const { data } = loaded.of
  const content = <Loaded {...loaded}>{(data) => <div class="stack">{loaded.children(data)}</div>}</Loaded>
  return (
    <Page
      {...{ title, parent }}
      detail={data !== null && detail?.(data)}
      actions={data !== null && actions?.(data)}
    >
      {scope ? <NeedsScope scope={scope}>{content}</NeedsScope> : content}
      {after}
    </Page>
  )
}

/** Where the pages of an agent are. @param title of the agent, once it is known */
export const AgentPath = ({ agent, title = agent }: { agent: string; title?: string | undefined }) => (
  <>
    <a href="#/agents">Agents</a> › <TextLink href={toHref(toPath('agents', agent))} text={title} />
  </>
)

export const FactsCard = ({
  facts,
  children,
}: Parameters<typeof Facts>[0] & { children?: ComponentChildren }) => (
  <section class="card" aria-label="Facts">
    {children}
    <Facts facts={facts} />
  </section>
)
