/** @jsxImportSource preact */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { colourCode } from '../code.ts';

interface CodeBlockProps {
  readonly code: string;
  /** The name of its language, as in Markdown. */
  readonly language: string;
}

/** Code in colours. */
export const CodeBlock = ({ code, language }: CodeBlockProps) => (
  // The colours replace what the element holds, so other code is another element.
  <Coloured key={`${language} ${code}`} code={code} language={language} />
);

function Coloured({ code, language }: CodeBlockProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (ref.current) colourCode(ref.current);
  }, []);
  return (
    <div class="markdown code-block" ref={ref}>
      <pre>
        <code class={`language-${language}`}>{code}</code>
      </pre>
    </div>
  );
}
