import type { TerminalSize } from '../options/terminal.js';

/** A runtime's user interface for terminals: a place to draw and to type. */
export interface TerminalUi {
  /**
   * Opens an overlay for one command, before the command starts.
   *
   * @param events Callbacks of the overlay, to be called from now on until it is closed.
   * @throws The overlay cannot be opened; the command then runs without a terminal.
   */
  openConsole(
    request: ConsoleRequest,
    events: ConsoleEvents,
  ): ConsoleOverlay | Promise<ConsoleOverlay>;
}

/** A request for an overlay. */
export interface ConsoleRequest {
  /** The title above the overlay. */
  readonly title: 'Console';
  /** The command, for a second line or a tooltip. */
  readonly command: string;
  /** The key that ends the command; absent when that is Esc. */
  readonly endKey?: Exclude<EndKey, 'Esc'>;
}

/**
 * The key with which the user ends a command in a console: Esc, and Ctrl-^ sends the command an ESC; or
 * Ctrl-] twice within a second, and all other keys are sent to the command.
 */
export type EndKey = 'Esc' | 'Ctrl-]';

/** Callbacks for events in an overlay. The methods never throw. */
export interface ConsoleEvents {
  /** Takes typed keys, as the bytes that a terminal sends for them. Text stands for its UTF-8 bytes. */
  input(data: string | Uint8Array): void;
  /** Takes the new size of the overlay. */
  resize(size: TerminalSize): void;
  /**
   * Ends the command, since the user has closed the overlay. A second call does not wait for the grace
   * period.
   */
  dismiss(): void;
}

/** An overlay that is open. */
export interface ConsoleOverlay {
  /** The size of the overlay, rounded to one between 20 by 5 and 400 by 200. Default: 120 by 40. */
  readonly size?: TerminalSize;
  /** Draws the screen. The next call waits until this one has settled. Throwing ends the command. */
  draw(frame: ConsoleFrame): void | Promise<void>;
  /** Closes the overlay, since the command has ended. Called once, and after everything else. */
  close(): void | Promise<void>;
}

/** The current screen. */
export interface ConsoleFrame {
  /** The size of the screen. */
  readonly size: TerminalSize;
  /** All rows, from the top. */
  readonly rows: readonly ConsoleRow[];
  /** Indices of the rows that differ from the frame before, ascending. */
  readonly changed: readonly number[];
  /** The cursor, counted from 0; also its position when it is not visible. */
  readonly cursor: { readonly column: number; readonly row: number; readonly visible: boolean };
  /** Whether the command wants pasted text marked: `\x1b[200~` before it, `\x1b[201~` after it. */
  readonly bracketedPaste: boolean;
}

/** A row of the screen, without the blanks at its end. */
export type ConsoleRow = readonly StyledText[];

/** Text in one style. */
export interface StyledText {
  /** The text, without escape sequences. */
  readonly text: string;
  /** The style of the text. */
  readonly style: TextStyle;
}

/** The look of text; an absent field has its default. */
export interface TextStyle {
  /** Colour of the text. */
  readonly foreground?: TextColor;
  /** Colour of the background. */
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
