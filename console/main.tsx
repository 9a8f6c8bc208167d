import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/components.css'
import './styles/status.css'
import './styles/forms.css'
import './styles/docs.css'
import { render } from 'preact'
import { App } from './app/app.tsx'
import { serveChecks } from './schema/run-check.ts'
import { readSignInLink, startRouter } from './state/location.ts'
import { takeProviderResponse } from './state/provider-sign-in.ts'
import { startSession } from './state/session.ts'

// The same file is the script of the worker that checks large texts, which has no document.
if (typeof document === 'undefined') serveChecks()
else start()

function start(): void {
  // Before anything else: neither a code of the identity provider nor the token of a link, such as that of `npm start`,
  // must stay in the address bar.
  takeProviderResponse()
  readSignInLink()
  startSession()
  startRouter()
  const root = document.getElementById('app')
  if (root) render(<App />, root)
}
