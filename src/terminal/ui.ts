import type { TerminalSize } from '../options/terminal.js';

/** A runtime's user interface, as far as a terminal needs it: a place to draw and to type. */
export interface TerminalUi {
  /**
   * Opens an overlay for one command, before the command starts.
   *
   * @param events What the overlay tells; it may do so from now on until it is closed.
   * @throws It cannot be opened; the command then runs without a terminal.
   */
  openConsole(
    request: ConsoleRequest,
    events: ConsoleEvents,
  ): ConsoleOverlay | Promise<ConsoleOverlay>;
}

/** What an overlay is for. */
export interface ConsoleRequest {
  /** What stands above it. */
  readonly title: 'Console';
  /** The command, for a second line or a tooltip. */
  readonly command: string;
  /** What ends the command; absent when that is Esc. */
  readonly endKey?: Exclude<EndKey, 'Esc'>;
}

/**
 * The key with which a person ends a command in a console: Esc, and Ctrl-^ sends the command an
 * ESC; or Ctrl-] twice within a second, and all other keys are the command's.
 */
export type EndKey = 'Esc' | 'Ctrl-]';

/** What happens in an overlay. The methods never throw. */
export interface ConsoleEvents {
  /** Keys, as the bytes that a terminal sends for them. Text stands for its UTF-8 bytes. */
  input(data: string | Uint8Array): void;
  /** There is more or less room now. */
  resize(size: TerminalSize): void;
  /** The person has closed it: the command is ended. A second time, without its grace. */
  dismiss(): void;
}

/** An overlay that is open. */
export interface ConsoleOverlay {
  /** The room there is; taken to the nearest size from 20 by 5 to 400 by 200. Default: 120 by 40. */
  readonly size?: TerminalSize;
  /** Draws the screen. The next call waits until this one has settled. Throwing ends the command. */
  draw(frame: ConsoleFrame): void | Promise<void>;
  /** The command is over. Called once, and after everything else. */
  close(): void | Promise<void>;
}

/** The screen as it is now. */
export interface ConsoleFrame {
  /** How large it is. */
  readonly size: TerminalSize;
  /** All rows, from the top. */
  readonly rows: readonly ConsoleRow[];
  /** Which rows are not as they were in the frame before: indices, ascending. */
  readonly changed: readonly number[];
  /** Counted from 0; where it would be when it is not visible. */
  readonly cursor: { readonly column: number; readonly row: number; readonly visible: boolean };
  /** The command wants pasted text marked as such: `\x1b[200~` before it, `\x1b[201~` after it. */
  readonly bracketedPaste: boolean;
}

/** A row of the screen, without the blanks at its end. */
export type ConsoleRow = readonly StyledText[];

/** Text in one style. */
export interface StyledText {
  /** The text; no escape sequences are in it. */
  readonly text: string;
  /** How it looks. */
  readonly style: TextStyle;
}

/** How text looks; what is absent is as usual. */
export interface TextStyle {
  /** Colour of the text. */
  readonly foreground?: TextColor;
  /** Colour behind it. */
  readonly background?: TextColor;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly blink?: true;
  readonly inverse?: true;
  readonly invisible?: true;
  readonly strikethrough?: true;
}

/** One of the 256 colours of a terminal's palette, or any as 0xRRGGBB. */
export type TextColor = { readonly palette: number } | { readonly rgb: number };
