import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/components.css'
import { render } from 'preact'
import { App } from './app/app.tsx'
import { readSignInLink, startRouter } from './state/router.ts'

// Before anything else: the link of `npm start` contains a token, which must not stay in the address bar.
readSignInLink()
startRouter()
const root = document.getElementById('app')
if (root) render(<App />, root)
