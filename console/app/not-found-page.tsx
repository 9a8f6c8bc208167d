import { Page } from '../components/page/page.tsx'

export function NotFoundPage({ path }: { path: string }) {
  return (
    <Page title="Page not found">
      <p>
        The console has no page <code>{path}</code>. Go to the <a href="#/">overview</a>.
      </p>
    </Page>
  )
}
