import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** False until the first page has appeared: then the browser announces the document itself. */
let hasShownPage = false

type Props = {
  /** Plain text: it also names the document. */
  title: string
  /** Above the title, such as a link to the list that the page comes from. */
  parent?: ComponentChildren
  /** Beside the title: its status, for example. */
  detail?: ComponentChildren
  /** Buttons and links. */
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page with its title. When one replaces another, the focus moves to the title, so that screen readers announce it. */
export function Page({ title, parent, detail, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Agent Execution Service`
  }, [title])
  useEffect(() => {
    if (hasShownPage) heading.current?.focus({ preventScroll: true })
    hasShownPage = true
  }, [])
  return (
    <>
      <header class="page-header">
        <div class="page-title">
          {parent && <div class="page-parent">{parent}</div>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {detail}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}
